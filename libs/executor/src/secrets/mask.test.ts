import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { LogTail } from '../log-tail.ts';
import { createMask } from './mask.ts';
import { spellingsOf } from './secret-spellings.ts';

const secret = 'p@ss w/"rd\\+ü&9f27c0d4';

describe('a mask', () => {
  const mask = createMask(new Map([['TOKEN', secret]]));

  const encodings: Record<string, string> = {
    'as it is': secret,
    'in JSON': JSON.stringify({ secret }),
    'in JSON within JSON': JSON.stringify(JSON.stringify({ secret })),
    'in a printed object of node': inspect({ secret }),
    'in a printed object of python': `{'secret': '${secret.replaceAll('\\', '\\\\')}'}`,
    'in a URL': `https://h/?t=${encodeURIComponent(secret)}`,
    'in a URL with lower-case digits': encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
    'in a URL as python quotes it': 'p%40ss%20w/%22rd%5C%2B%C3%BC%269f27c0d4',
    'in a form as python makes it': 'p%40ss+w/%22rd%5C%2B%C3%BC%269f27c0d4',
    'in JSON of ASCII alone': '"p@ss w/\\"rd\\\\+\\u00fc&9f27c0d4"',
    'in JSON with escaped slashes': '"p@ss w\\/\\"rd\\\\+\\u00fc&9f27c0d4"',
    'in a form': new URLSearchParams({ secret }).toString(),
    'in HTML': secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
    'in hex': Buffer.from(secret).toString('hex'),
    'in upper-case hex': Buffer.from(secret).toString('hex').toUpperCase(),
    'in base64': Buffer.from(secret).toString('base64'),
    'in base64url': Buffer.from(secret).toString('base64url'),
    'in base64 after one byte': Buffer.from(`a${secret}b`).toString('base64'),
    'in base64 after two bytes': Buffer.from(`ab${secret}cd`).toString('base64'),
    'in base64 after three bytes': Buffer.from(`abc${secret}def`).toString('base64'),
    'in a basic header': `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`,
    'in base64url after one byte': Buffer.from(`a${secret}`).toString('base64url'),
  };
  for (const [where, text] of Object.entries(encodings)) {
    it(`finds and replaces a secret ${where}`, () => {
      assert.equal(mask.finds(text), 'TOKEN');
      assert.match(mask.text(text), /\*\*\*TOKEN\*\*\*/);
      assert.equal(mask.finds(mask.text(text)), null);
    });
  }

  it('finds the marks that some encoders leave as they are and others do not', () => {
    const marked = createMask(new Map([['TOKEN', "it's(one)*of!many"]]));
    assert.equal(marked.text('it%27s%28one%29%2Aof%21many'), '***TOKEN***');
    assert.equal(marked.text("it's(one)*of!many"), '***TOKEN***');
  });

  it('leaves other text alone', () => {
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

  it('takes the longest secret where several begin', () => {
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

  it('masks a text in chunks as it masks the whole, wherever it is cut', () => {
    const spellings = [...spellingsOf(secret), ...spellingsOf('other-secret')];
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
});

describe('a log tail', () => {
  it('gives whole lines at once, so that sources side by side stay apart', () => {
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
