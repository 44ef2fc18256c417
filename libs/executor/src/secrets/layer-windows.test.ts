import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windowsOf } from './layer-windows.ts';
import { createMask } from './mask.ts';
import { layersOf } from './text-layers.ts';

/** For a text of 100,000 characters: the characters of each layer above the text that are scanned again. */
function passedOver(line: string): number[] {
  const text = line.repeat(Math.ceil(100_000 / line.length));
  return layersOf(text)
    .slice(1)
    .map((layer) => {
      let characters = 0;
      let before = 0;
      windowsOf(layer, (from, to) => {
        assert.ok(from >= before && to >= from && to <= layer.codes.length);
        before = to;
        characters += to - from;
      });
      assert.equal(before, layer.codes.length);
      return Math.round((characters / text.length) * 100);
    });
}

test('only the parts of a text around its escapes are scanned again', () => {
  const dense = `${JSON.stringify({ id: 7, level: 'info', name: '', message: 'order "A-1" was paid', tags: ['new', 'vip'], path: 'C:\\x', ok: true, trace: '0f'.repeat(16) })}\n`;
  const shares = passedOver(dense);
  assert.ok(shares.length >= 1 && shares.every((share) => share < 50), `${shares} %`);
  assert.deepEqual(passedOver('GET /v1/items/4711 200 12 ms for 10.0.0.7 by worker-3\n'), []);
});

test('a secret is found with an escape at any place in it, and with any text before it', () => {
  const secret = 'ab"cd\\ef&gh 0123456789';
  const mask = createMask(new Map([['TOKEN', secret]]));
  const json = JSON.stringify(secret).slice(1, -1);
  const hex = Buffer.from(secret).toString('hex');
  const written = [
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    // An escape in the middle of a form whose beginning has none.
    `ab&quot;cd\\ef&amp;gh 0123456789`,
    `${hex.slice(0, 6)}\\n${hex.slice(6)}`,
  ];
  for (const text of written) {
    for (const length of [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 24, 40]) {
      for (const filler of ['x', '0', '\\"', '""', ' \n', '12, ', '%20']) {
        const before = `${filler.repeat(length)}${filler === 'x' ? '-' : '|'}`;
        const shown = mask.text(`${before}${text}|after`);
        assert.equal(shown, `${before}***TOKEN***|after`, JSON.stringify([before, text]));
      }
    }
  }
});
