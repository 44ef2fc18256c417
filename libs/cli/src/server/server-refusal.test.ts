import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionFault } from './server-refusal.ts';

test('the hint for a certificate names what helps against its fault', () => {
  for (const [code, words, hint] of [
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /is self-signed$/, /NODE_EXTRA_CA_CERTS/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /does not trust$/, /NODE_EXTRA_CA_CERTS/],
    ['CERT_HAS_EXPIRED', /has expired$/, /^its operator has to renew it/],
    ['CERT_NOT_YET_VALID', /is not valid yet/, /clock of this machine/],
    ['CERT_REVOKED', /was revoked$/, /^its operator has to renew it/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /is for another name$/, /^use the name it is for/],
  ] as const) {
    const cause = Object.assign(new Error('tls'), { code });
    const fault = connectionFault('the server', new TypeError('fetch failed', { cause }));
    assert.equal(fault.code, 'bad_certificate');
    assert.match(fault.message, words);
    assert.match(fault.hint ?? '', hint, code);
  }
});
