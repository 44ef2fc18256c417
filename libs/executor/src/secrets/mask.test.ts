import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import fc from 'fast-check';
import { LogTail } from '../log-tail.ts';
import { encodersOf } from './encoders.fixture.ts';
import { createMask } from './mask.ts';

const secret = 'p@ss w/"rd\\+ü&9f27c0d4';
const long = `sk_live_${'Zx7/+&<>\'"=% é🔑'.repeat(8)}_end`;

describe('a mask', () => {
  const mask = createMask(new Map([['TOKEN', secret]]));

  const log = 'x'.repeat(70);
  for (const [how, encode] of Object.entries(encodersOf())) {
    it(`finds and replaces a secret ${how}, a short one and a long one`, () => {
      for (const value of [secret, long, 'plain-text-0123456789', `${secret}${long}`]) {
        const own = createMask(new Map([['TOKEN', value]]));
        for (const text of [encode(value), `${log} ${encode(value)}, and more`, `one\n${encode(value)}\nthree`]) {
          assert.equal(own.finds(text), 'TOKEN', text);
          assert.match(own.text(text), /\*\*\*TOKEN\*\*\*/);
          assert.equal(own.finds(own.text(text)), null);
        }
      }
    });
  }

  it('finds characters that some encoders escape and others do not', () => {
    const marked = createMask(new Map([['TOKEN', "it's(one)*of!many"]]));
    assert.equal(marked.text('it%27s%28one%29%2Aof%21many'), '***TOKEN***');
    assert.equal(marked.text("it's(one)*of!many"), '***TOKEN***');
  });

  it('keeps other text', () => {
    assert.equal(mask.text('p@ss w/ TOKEN'), 'p@ss w/ TOKEN');
    assert.equal(mask.finds('p@ss w/ TOKEN'), null);
    assert.equal(createMask(new Map()).text(secret), secret);
  });

  it('masks texts and names in JSON values', () => {
    assert.deepEqual(mask.json({ a: [secret, 1, null], [secret]: { b: `x${secret}` } }), {
      a: ['***TOKEN***', 1, null],
      '***TOKEN***': { b: 'x***TOKEN***' },
    });
  });

  it('masks the longest secret where several begin', () => {
    const two = createMask(
      new Map([
        ['SHORT', 'abcdef'],
        ['LONG', 'abcdefghij'],
      ]),
    );
    assert.equal(two.text('abcdefghij abcdef'), '***LONG*** ***SHORT***');
  });

  it('masks each line of a key and each member of a structured secret', () => {
    const key = '-----BEGIN KEY-----\nMIIBVgIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n';
    const account = JSON.stringify({ id: 7, private_key: key, client: { email: 'bot@example.com' } });
    for (const value of [key, account]) {
      const masked = createMask(new Map([['KEY', value]])).text(`> hkiG9w0BAQEFAASC`);
      assert.equal(masked, '> ***KEY***');
    }
    assert.equal(createMask(new Map([['KEY', account]])).text('bot@example.com'), '***KEY***');
  });

  it('masks a text in chunks like the whole text, with any cuts', () => {
    const spellings = [secret, 'other-secret']
      .flatMap((value) => Object.values(encodersOf()).map((encode) => encode(value)))
      .filter((text) => !text.includes('\n'));
    const both = createMask(
      new Map([
        ['TOKEN', secret],
        ['OTHER', 'other-secret'],
      ]),
    );
    const piece = fc.oneof(
      fc.constantFrom(...spellings),
      fc.string({ maxLength: 5 }),
      fc.constantFrom('p@ss', 'other-'),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (pieces, cuts) => {
          const text = pieces.join('');
          const stream = both.stream();
          let masked = '';
          for (let at = 0, i = 0; at < text.length; i++) {
            const length = cuts[i % cuts.length] as number;
            masked += stream.push(text.slice(at, at + length));
            at += length;
          }
          assert.equal(masked + stream.end(), both.text(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('masks a secret over several lines that arrive in chunks, except for a few digits before a line ends', () => {
    const lines = Object.entries(encodersOf()).filter(([how, encode]) => encode(long).trim().includes('\n') && how);
    assert.ok(lines.length > 5);
    const own = createMask(new Map([['TOKEN', long]]));
    for (const [how, encode] of lines) {
      const text = `before\n${encode(long)}\nafter\n`;
      for (const length of [1, 7, 61, 64, 65, 76, 77, 78, 1000]) {
        const stream = own.stream();
        let shown = '';
        for (let at = 0; at < text.length; at += length) shown += stream.push(text.slice(at, at + length));
        shown += stream.end();
        assert.match(shown, /^before\n/, how);
        assert.match(shown, /after\n$/, how);
        assert.ok(shown.length < 90, `${how} ${length} ${shown}`);
      }
    }
  });

  it('names overlapping secrets, and leaves nothing of either', () => {
    const two = createMask(
      new Map([
        ['ONE', 'abcdef-123456'],
        ['TWO', '123456-uvwxyz'],
      ]),
    );
    assert.equal(two.text('>abcdef-123456-uvwxyz<'), '>***ONE******TWO***<');
  });

  it('finds joined forms: a shell line that continues, a table, a secret as metacharacters', () => {
    const marks = createMask(new Map([['MARKS', '.*+?^${}()|[]\\']]));
    assert.equal(marks.text('a .*+?^${}()|[]\\ b'), 'a ***MARKS*** b');
    assert.equal(marks.text('aXXXXXXXXXXXXX b'), 'aXXXXXXXXXXXXX b');
    const short = createMask(new Map([['SHORT', '123456']]));
    assert.equal(short.text('123\n456\n'), '123\n456\n');
    assert.equal(short.text('n=123456.'), 'n=***SHORT***.');
  });

  it('scans a text only a few times, for any secrets and any text', () => {
    const lines = 'GET /v1/items/4711 200 12 ms for 10.0.0.7 by worker-3, user agent curl 8.5.0\n';
    const log = lines.repeat(Math.ceil(1_000_000 / lines.length));
    const many = new Map(Array.from({ length: 20 }, (_, i) => [`S${i}`, randomBytes(30).toString('base64')]));
    const large = new Map(Array.from({ length: 20 }, (_, i) => [`S${i}`, randomBytes(24_576).toString('base64url')]));
    const same = new Map([['SAME', `${'a'.repeat(65_536)}b`]]);
    const bound = (secrets: Map<string, string>, text: string, ms: number) => {
      const own = createMask(secrets);
      const cpuMs = leastCpuMs(ms, () => own.text(text));
      assert.ok(cpuMs < ms, `${cpuMs} ms`);
    };
    bound(many, log, 120);
    bound(large, log, 120);
    bound(same, 'a'.repeat(200_000), 600);
    bound(new Map([['MARKS', '\\'.repeat(4000)]]), '\\'.repeat(40_000), 600);
  });

  it('holds only the needed part of a stream, and reads it again only as it grows', () => {
    const cpuMs = leastCpuMs(1_500, () => {
      const stream = createMask(new Map([['SAME', `${'a'.repeat(65_536)}b`]])).stream();
      let shown = '';
      for (let i = 0; i < 100_000; i++) shown += stream.push('a');
      shown += stream.end();
      assert.ok(shown.length > 0);
    });
    assert.ok(cpuMs < 1_500, `${cpuMs} ms`);
  });
});

describe('a log tail', () => {
  it('returns whole lines at once, so that sources side by side stay separate', () => {
    const given: string[] = [];
    const mask = createMask(new Map([['TOKEN', 'a-secret-of-many-characters']]));
    const tail = new LogTail(mask, 1000, (text, from) => given.push(`${from} ${text}`));
    tail.push('stdout', Buffer.from('one\na-secret-of'));
    tail.push('stderr', Buffer.from('two\n'));
    tail.push('stdout', Buffer.from('-many-characters\n'));
    assert.deepEqual(given, ['stdout one\n', 'stderr two\n', 'stdout ***TOKEN***\n']);
  });

  it('masks a secret that is cut by a chunk, also inside a character, and by the bound itself', () => {
    const mask = createMask(new Map([['TOKEN', 'geheimnis-äöü-1234']]));
    const text = Buffer.from(`${'x'.repeat(100)}geheimnis-äöü-1234${'y'.repeat(10)}`);
    for (const bytesMax of [5, 12, 20, 25, 1000]) {
      const tail = new LogTail(mask, bytesMax);
      for (const byte of text) tail.push('stdout', Buffer.from([byte]));
      const { text: kept } = tail.end() ?? { text: '' };
      assert.ok(`${'x'.repeat(100)}***TOKEN***${'y'.repeat(10)}`.endsWith(kept), kept);
    }
  });
});

it('masks the thousand longest lines of a secret of thousands separately, and 60 of them in every form', () => {
  // Line n has 20 + n characters, none of which begins another one.
  const line = (n: number) => `${n}-`.padStart(6, 'x') + 'k'.repeat(14 + n);
  const { text } = createMask(new Map([['KEY', Array.from({ length: 1_100 }, (_, n) => line(n)).join('\n')]]));
  const isMasked = (line: string) => text(`<${line}>`) === '<***KEY***>';
  const base64 = (line: string) => Buffer.from(line).toString('base64');
  assert.deepEqual([line(1_099), line(100), line(99)].map(isMasked), [true, true, false]);
  assert.deepEqual(
    [line(1_099), line(900)].map(base64).map((form) => text(form) !== form),
    [true, false],
  );
});
