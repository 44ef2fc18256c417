import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import type { SealedKind } from '../sealed-shape.ts';
import { plainStreamBytes, type StreamKind, sealedStreamBytes } from '../sealed-stream-shape.ts';
import { ContentKey } from './content-key.ts';
import { openStream, sealStream } from './sealed-stream.ts';

interface Vectors {
  readonly content_part: string;
  readonly org_id: string;
  readonly content_id: string;
  readonly keys: { readonly fingerprint: string };
  readonly values: readonly {
    readonly name: string;
    readonly kind: SealedKind;
    readonly question_id?: string;
    readonly step: string;
    readonly seq: number;
    readonly json: string;
    readonly digest: string;
    readonly iv: string;
    readonly sealed: string;
  }[];
  readonly bytes: readonly {
    readonly name: string;
    readonly kind: SealedKind;
    readonly step: string;
    readonly seq: number;
    readonly plain: string;
    readonly iv: string;
    readonly sealed: string;
  }[];
  readonly streams: readonly {
    readonly name: string;
    readonly kind: StreamKind;
    readonly salt: string;
    readonly ivs: readonly string[];
    readonly plain_bytes: number;
    readonly sealed_bytes: number;
    readonly sealed_sha256: string;
  }[];
  readonly files: readonly {
    readonly name: string;
    readonly idempotency_key: string;
    readonly content_id: string;
    readonly salt: string;
    readonly ivs: readonly string[];
    readonly plain_bytes: number;
    readonly sealed_sha256: string;
    readonly sealed?: string;
  }[];
  readonly grants: readonly {
    readonly from_key_id: string;
    readonly content_part: string;
    readonly iv: string;
    readonly wrapped: string;
  }[];
  readonly refused_grants: readonly {
    readonly why: string;
    readonly from_key_id: string;
    readonly wrapped: string;
    readonly code: string;
  }[];
}

const vectors: Vectors = JSON.parse(readFileSync(new URL('../../vectors/device-1.json', import.meta.url), 'utf8'));

/** The key of the vectors, with the IVs that they were made with. */
function keyWith(...ivs: readonly string[]): ContentKey {
  const left = [...ivs];
  return new ContentKey(vectors.content_part, vectors.org_id, () => Buffer.from(left.shift() ?? '', 'hex'));
}

test('the fingerprint is the published one', () => {
  assert.equal(keyWith().fingerprint.toString('hex'), vectors.keys.fingerprint);
});

for (const { name, kind, question_id, step, seq, json, digest, iv, sealed } of vectors.values) {
  test(`seals and opens as published: ${name}`, () => {
    const key = keyWith(iv);
    const value: unknown = JSON.parse(json);
    const made = kind === 'inputs' ? key.digestOfInputs(value) : key.digestOfAnswer(question_id ?? '', value);
    const sent = kind === 'inputs' || kind === 'answer' ? made : undefined;
    if (sent !== undefined) assert.equal(sent.toString('hex'), digest);
    const run = key.ofRun(vectors.content_id);
    assert.deepEqual(run.sealJson({ kind, step }, value, seq, sent), { $sealed: sealed });
    assert.deepEqual(run.openJson({ kind, step }, { $sealed: sealed }), value);
  });
}

for (const { name, kind, step, seq, plain, iv, sealed } of vectors.bytes) {
  test(`seals and opens as published: ${name}`, () => {
    const run = keyWith(iv).ofRun(vectors.content_id);
    assert.equal(run.seal({ kind, step }, Buffer.from(plain, 'hex'), seq).toString('base64url'), sealed);
    const opened = run.open({ kind, step }, Buffer.from(sealed, 'base64url'));
    assert.deepEqual([opened.plain.toString('hex'), opened.seq], [plain, seq]);
  });
}

for (const { name, kind, salt, ivs, plain_bytes, sealed_bytes, sealed_sha256 } of vectors.streams) {
  test(`streams as published: ${name}`, async () => {
    const run = keyWith(...ivs).ofRun(vectors.content_id);
    const plain = Buffer.from(Array.from({ length: plain_bytes }, (_, index) => index % 251));
    // In parts of an odd length: chunks are cut by the format, not by how the parts arrive.
    const parts = Array.from({ length: Math.ceil(plain_bytes / 1_013) }, (_, i) =>
      plain.subarray(i * 1_013, (i + 1) * 1_013),
    );
    const sealed = await buffer(sealStream(run, kind, parts, { salt: Buffer.from(salt, 'hex') }));
    assert.equal(sealed.length, sealed_bytes);
    assert.deepEqual([sealedStreamBytes(plain_bytes), plainStreamBytes(sealed_bytes)], [sealed_bytes, plain_bytes]);
    assert.equal(createHash('sha256').update(sealed).digest('hex'), sealed_sha256);
    assert.deepEqual(await buffer(openStream(run, kind, [sealed])), plain);
  });
}

for (const { name, idempotency_key, content_id, salt, ivs, plain_bytes, sealed_sha256 } of vectors.files) {
  test(`seals a file for inputs as published: ${name}`, async () => {
    const file = keyWith().ofFile(idempotency_key);
    const plain = Buffer.from(Array.from({ length: plain_bytes }, (_, index) => index % 251));
    const sealed = await buffer(sealStream(file.key, 'file', [plain], file));
    assert.deepEqual([file.contentId, file.salt.toString('hex')], [content_id, salt]);
    const made = ivs.map((_, i) => sealed.toString('hex', 16 + 4 + 22 + i * (4 + 82 + 65_536)).slice(0, 24));
    assert.deepEqual(made, ivs);
    assert.equal(createHash('sha256').update(sealed).digest('hex'), sealed_sha256);
    assert.deepEqual(await buffer(openStream(keyWith().ofRun(content_id), 'file', [sealed])), plain);
  });
}

test('wraps and unwraps a content part as published', () => {
  for (const { from_key_id, content_part, iv, wrapped } of vectors.grants) {
    const key = keyWith(iv);
    assert.equal(key.wrap(from_key_id, content_part).toString('base64url'), wrapped);
    assert.equal(key.unwrap(from_key_id, Buffer.from(wrapped, 'base64url')), content_part);
  }
});

for (const { why, from_key_id, wrapped, code } of vectors.refused_grants) {
  test(`does not unwrap a content part: ${why}`, () => {
    assert.throws(() => keyWith().unwrap(from_key_id, Buffer.from(wrapped, 'base64url')), { code });
  });
}
