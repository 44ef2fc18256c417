import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { ContentKey } from './content-key.ts';
import { KeyRing } from './key-ring.ts';
import { openStream, sealStream } from './sealed-stream.ts';

const ORG = 'org_1';
const PARTS = { old: 'o'.repeat(43), eldest: 'e'.repeat(43), own: 'n'.repeat(43), other: 'x'.repeat(43) };
const RUN = 'a'.repeat(32);
const INPUTS = { kind: 'inputs', step: '' } as const;

const sealedBy = (part: string) => new ContentKey(part, ORG).ofRun(RUN).sealJson(INPUTS, { part });
const wrappedFor = (to: string, keyId: string, part: string, org = ORG) =>
  new ContentKey(to, org).wrap(keyId, part).toString('base64url');
const grant = (keyId: string, wrapped: string) => ({ from_key_id: keyId, wrapped });
const open = (keys: KeyRing, part: string) => keys.runKeyOf(sealedBy(part), RUN).openJson(INPUTS, sealedBy(part));

test('opens what its own key and each granted one sealed, and nothing else', () => {
  const grants = [
    grant('key_old', wrappedFor(PARTS.own, 'key_old', PARTS.old)),
    grant('key_eldest', wrappedFor(PARTS.own, 'key_eldest', PARTS.eldest)),
  ];
  const keys = new KeyRing(PARTS.own, ORG, grants);
  for (const part of [PARTS.own, PARTS.old, PARTS.eldest]) assert.deepEqual(open(keys, part), { part });
  assert.throws(() => open(keys, PARTS.other), { code: 'content_key_missing' });
  assert.deepEqual(keys.eldest.fingerprint, new ContentKey(PARTS.eldest, ORG).fingerprint);
  const alone = new KeyRing(PARTS.own, ORG, []);
  assert.equal(alone.eldest, alone.own);
});

test('a grant that was changed, moved, or wrapped elsewhere is named by an error, and all other runs open', () => {
  const good = wrappedFor(PARTS.own, 'key_old', PARTS.old);
  const changed = Buffer.from(good, 'base64url');
  changed[80] = (changed[80] ?? 0) ^ 1;
  const bad = [
    changed.toString('base64url'),
    wrappedFor(PARTS.other, 'key_old', PARTS.old),
    wrappedFor(PARTS.own, 'key_old', PARTS.old, 'org_2'),
    wrappedFor(PARTS.own, 'key_other', PARTS.old),
    new ContentKey(PARTS.own, ORG)
      .ofRun(RUN)
      .seal({ kind: 'grant', step: 'key_old' }, Buffer.from(PARTS.old))
      .toString('base64url'),
    new ContentKey(PARTS.own, ORG)
      .ofRun('0'.repeat(32))
      .seal({ kind: 'text', step: 'key_old' }, Buffer.from(PARTS.old))
      .toString('base64url'),
    good.slice(0, -4),
    '',
    '!',
  ];
  for (const wrapped of bad) {
    const keys = new KeyRing(PARTS.own, ORG, [
      grant('key_old', wrapped),
      grant('key_eldest', wrappedFor(PARTS.own, 'key_eldest', PARTS.eldest)),
    ]);
    assert.deepEqual(keys.damaged, ['key_old'], wrapped);
    assert.throws(() => open(keys, PARTS.old), { code: 'content_grant_damaged', message: / key_old / });
    for (const part of [PARTS.own, PARTS.eldest]) assert.deepEqual(open(keys, part), { part });
  }
});

test('a stream is opened by the key that its first envelope shows', async () => {
  const grants = [
    grant('key_old', wrappedFor(PARTS.own, 'key_old', PARTS.old)),
    grant('key_eldest', wrappedFor(PARTS.other, 'key_eldest', PARTS.eldest)),
  ];
  const keys = new KeyRing(PARTS.own, ORG, grants).streamKeys(RUN);
  const opened = async (part: string) => {
    const sealed = sealStream(new ContentKey(part, ORG).ofRun(RUN), 'folder', [Buffer.from(part)]);
    return String(await buffer(openStream(keys, 'folder', sealed)));
  };
  for (const part of [PARTS.own, PARTS.old]) assert.equal(await opened(part), part);
  // What was granted of that key does not open.
  await assert.rejects(opened(PARTS.eldest), { code: 'content_grant_damaged', message: / key_eldest / });
});
