import { doesNotThrow, equal, match, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SignatureError, signatureHeader, verifySignature } from './webhook-signature.ts';

const SECRET = `whsec_${'0'.repeat(43)}`;
const BODY = '{"event":"succeeded"}';
const NOW_S = 1_700_000_000;

// Computed by an independent implementation.
const VECTORS = [
  [SECRET, NOW_S, BODY, '65a7092ab340949b8ed3e3cc1a483a7379ee42e222048e8d74120bd51b46da2f'],
  [`whsec_${'z'.repeat(43)}`, 0, '', 'db891e91ee283abfe3508942d2eb48b907263ef90e22d761d47174e18abbd6c3'],
  [
    `whsec_${'Ab1'.repeat(14)}x`,
    999_999_999_999,
    Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
    '382f60f863a2288af815f84ccf313d6272122092ac7c78a8b56ac1be292a5315',
  ],
] as const;

function refused(fault: SignatureError['fault'], verify: () => void): void {
  throws(verify, (error: unknown) => error instanceof SignatureError && error.fault === fault);
}

describe('a webhook signature', () => {
  for (const [secret, timestampS, body, hex] of VECTORS) {
    test(`of ${body.length} bytes at ${timestampS} is what others compute`, () => {
      equal(signatureHeader(secret, timestampS, body), `t=${timestampS},v1=${hex}`);
      doesNotThrow(() => verifySignature(body, `t=${timestampS},v1=${hex}`, secret, { nowS: timestampS }));
    });
  }

  test('of any body is accepted, given as text or as its bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(2 ** 31), (body, nowS) => {
        const header = signatureHeader(SECRET, nowS, body);
        match(header, /^t=\d+,v1=[0-9a-f]{64}$/);
        verifySignature(Buffer.from(body), header, SECRET, { nowS });
      }),
    );
  });

  test('is refused when any bit of the body is flipped', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), (body, chosen) => {
        const header = signatureHeader(SECRET, NOW_S, body);
        const bit = chosen % (body.length * 8);
        const flipped = Uint8Array.from(body, (byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        refused('mismatch', () => verifySignature(flipped, header, SECRET, { nowS: NOW_S }));
      }),
    );
  });

  test('is refused when any bit of itself is flipped', () => {
    const [, hex = ''] = signatureHeader(SECRET, NOW_S, BODY).split(',v1=');
    for (let bit = 0; bit < 256; bit++) {
      const bytes = Buffer.from(hex, 'hex');
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const header = `t=${NOW_S},v1=${bytes.toString('hex')}`;
      refused('mismatch', () => verifySignature(BODY, header, SECRET, { nowS: NOW_S }));
    }
  });

  test('is refused under another secret, or with another timestamp in front', () => {
    const header = signatureHeader(SECRET, NOW_S, BODY);
    refused('mismatch', () => verifySignature(BODY, header, `${SECRET.slice(0, -1)}1`, { nowS: NOW_S }));
    const fresher = header.replace(String(NOW_S), String(NOW_S + 1));
    refused('mismatch', () => verifySignature(BODY, fresher, SECRET, { nowS: NOW_S + 1 }));
    // The number is not enough: the signed text contains the timestamp as written.
    refused('mismatch', () => verifySignature(BODY, header.replace('t=', 't=0'), SECRET, { nowS: NOW_S }));
  });

  test('is stale more than five minutes before or after its time', () => {
    const header = signatureHeader(SECRET, NOW_S, BODY);
    for (const away of [-300, 300]) verifySignature(BODY, header, SECRET, { nowS: NOW_S + away });
    for (const away of [-301, 301]) {
      refused('stale', () => verifySignature(BODY, header, SECRET, { nowS: NOW_S + away }));
    }
    refused('stale', () => verifySignature(BODY, header, SECRET, { nowS: NOW_S + 11, toleranceS: 10 }));
  });

  test('has one for each secret during a rotation, and any of them is enough', () => {
    const [before, now, other] = ['1', '2', '3'].map((end) => `${SECRET.slice(0, -1)}${end}`) as [
      string,
      string,
      string,
    ];
    const header = signatureHeader([now, before], NOW_S, BODY);
    for (const secret of [now, before]) verifySignature(BODY, header, secret, { nowS: NOW_S });
    refused('mismatch', () => verifySignature(BODY, header, other, { nowS: NOW_S }));
    refused('mismatch', () => verifySignature(`${BODY} `, header, now, { nowS: NOW_S }));
  });

  test('is reported as stale only when it is authentic', () => {
    const header = signatureHeader(SECRET, NOW_S, BODY);
    refused('mismatch', () => verifySignature(`${BODY} `, header, SECRET, { nowS: NOW_S + 9_999 }));
  });

  const hex = 'a'.repeat(64);
  for (const header of [
    '',
    'nonsense',
    `v1=${hex}`,
    `t=${NOW_S}`,
    `t=,v1=${hex}`,
    `t=-1,v1=${hex}`,
    `t=1.5,v1=${hex}`,
    `t=1e9,v1=${hex}`,
    `t=1234567890123,v1=${hex}`,
    `t=${NOW_S},v1=${hex.slice(1)}`,
    `t=${NOW_S},v1=${hex}a`,
    `t=${NOW_S},v1=${hex.toUpperCase()}`,
    `t=${NOW_S},v1=${'g'.repeat(64)}`,
    `t=${NOW_S},v0=${hex}`,
    `v1=${hex},t=${NOW_S}`,
    `t=${NOW_S}, v1=${hex}`,
    `t=${NOW_S},v1=${hex}\n`,
    ` t=${NOW_S},v1=${hex}`,
    `t=${NOW_S}${`,v1=${hex}`.repeat(6)}`,
    `t=${NOW_S},v1=${hex},v0=${hex}`,
  ]) {
    test(`is malformed as ${JSON.stringify(header.replaceAll(hex, '<hex>'))}`, () => {
      refused('malformed', () => verifySignature(BODY, header, SECRET, { nowS: NOW_S }));
    });
  }

  test('refuses any other header, and only with its own error', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        refused('malformed', () => verifySignature(BODY, header, SECRET, { nowS: NOW_S }));
      }),
    );
  });
});
