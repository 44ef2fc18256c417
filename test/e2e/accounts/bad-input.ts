// Invalid input: a clear error each, and nothing of it is kept.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Reply, RequestOptions } from '../api-client.ts';
import { RowWitness } from '../row-witness.ts';
import { countingSource } from '../saved-method.ts';
import type { AccountWorld } from './account-world.ts';
import { UploadLink } from './upload-link.ts';

export function badInput(world: () => AccountWorld): void {
  describe('bad input', () => {
    let witness: RowWitness;
    let methodId: string;
    before(async () => {
      const body = { idempotency_key: randomUUID(), source: countingSource(0) };
      const made = await world().member.request('POST', '/api/methods', { body });
      methodId = made.read<{ method: { id: string } }>().method.id;
      witness = await RowWitness.watch(world().stack.sql);
    });

    /** Only while nothing else is under way. */
    async function refused(reply: Promise<Reply>, status: number, error: string, detail?: string): Promise<void> {
      const { status: got, refusal } = await reply;
      assert.deepEqual([got, refusal.error], [status, error], JSON.stringify(refusal));
      assert.ok(refusal.message && refusal.request_id);
      if (detail !== undefined) assert.equal(refusal.details?.[0]?.code, detail);
      assert.deepEqual(await witness.changes(), []);
    }
    const key = () => ({ idempotency_key: randomUUID() });
    const post = (path: string, body: object, more: RequestOptions = {}) =>
      world().member.request('POST', path, { body, ...more });

    test('of names: 10 kB, empty, or with what no table holds', async () => {
      const source = countingSource(0);
      for (const name of ['n'.repeat(10_240), 'é'.repeat(201), '']) {
        await refused(post('/api/methods', { ...key(), source, display_name: name }), 400, 'invalid_request');
        const change = world().member.request('PATCH', `/api/methods/${methodId}`, { body: { display_name: name } });
        await refused(change, 400, 'invalid_request');
      }
      await refused(post('/api/methods', { ...key(), source, display_name: 'a\u0000b' }), 400, 'invalid_request');
      const size = { file_name: 'f'.repeat(10_240), content_type: 'application/json', size: 10 };
      await refused(post('/api/workflow-uploads', { ...key(), ...size }), 400, 'invalid_request');
      const keyBody = { name: 'k'.repeat(10_240), auth_sha256: 'a'.repeat(64) };
      await refused(world().admin.request('POST', '/api/keys', { body: keyBody }), 400, 'invalid_request');
    });

    test('of sources: 300 KiB, no UTF-8, lone surrogates, none at all, and ones that do not validate', async () => {
      const large = `${countingSource(0)}#${'x'.repeat(300 * 1024)}\n`;
      await refused(post('/api/methods', { ...key(), source: large }), 413, 'too_large', 'source_bytes');
      const checked = (await post('/api/methods/validate', { source: large })).read<{
        diagnostics: { code: string }[];
      }>();
      assert.deepEqual(
        checked.diagnostics.map(({ code }) => code),
        ['M002'],
      );
      const cli = { workflow: large, request_id: randomUUID() };
      await refused(post('/api/cli/methods', cli), 413, 'too_large', 'source_bytes');
      const bytes = Buffer.from(JSON.stringify({ ...key(), source: 'format: method/2\nname: \u00e9' }), 'latin1');
      const raw = world().member.request('POST', '/api/methods', { text: new Uint8Array(bytes) });
      await refused(raw, 400, 'invalid_request');
      const lone = `{"idempotency_key":"${randomUUID()}","source":"\\ud800"}`;
      await refused(world().member.request('POST', '/api/methods', { text: lone }), 400, 'invalid_request');
      await refused(post('/api/methods', key()), 400, 'invalid_request');
      await refused(post('/api/methods', { ...key(), source: 'format: method/2\n' }), 422, 'invalid_method');
      const save = { workflow: 'no: method\n', base_version: '', reason: '' };
      await refused(post(`/api/cli/methods/${methodId}`, save), 422, 'invalid_method');
      await refused(post('/api/methods', { ...key(), source: countingSource(0), sorce: 'x' }), 400, 'invalid_request');
    });

    test('of tokens: any that the issuer has not signed', async () => {
      const { stack, admin } = world();
      const [head = '', body = '', signature = ''] = admin.apiKey.split('.');
      const coded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
      const header = JSON.parse(Buffer.from(head, 'base64url').toString());
      const forged = {
        'no signature': `${coded({ ...header, alg: 'none' })}.${body}.`,
        'a signature cut short': `${head}.${body}.${signature.slice(0, -4)}`,
        'other claims': `${head}.${coded({ ...claims, org_id: 'elsewhere' })}.${signature}`,
        'another key': `${coded({ ...header, kid: 'mine', jku: 'https://evil.example/jwks' })}.${body}.${signature}`,
        'a key of its own': `${coded({ ...header, jwk: { kty: 'oct', k: 'AA' } })}.${coded({ ...claims, x: 1 })}.${signature}`,
      };
      for (const [what, token] of Object.entries(forged)) {
        const reply = await stack.api.as(token).request('GET', '/api/whoami');
        assert.deepEqual([reply.status, reply.text], [401, '{"error":"unauthorized"}'], what);
      }
      assert.equal((await admin.request('GET', '/api/whoami')).status, 200);
    });

    test('of uploads: over their size, with the token of another one, compressed, or announced too large', async () => {
      const { member } = world();
      const announced = { ...key(), file_name: 'a.har', content_type: 'application/json', size: 200 * 1024 * 1024 + 1 };
      await refused(post('/api/workflow-uploads', announced), 413, 'too_large');
      const link = await UploadLink.create(member, 100);
      const other = await UploadLink.create(member, 100);
      await witness.changes();
      await refused(link.put(Buffer.alloc(101, 'x')), 413, 'too_large', 'upload_size');
      await refused(link.put(Buffer.alloc(99, 'x')), 400, 'invalid_request', 'upload_size');
      await refused(link.patch(0, Buffer.alloc(4_000_000, 'x')), 413, 'too_large', 'upload_size');
      const bomb = await link.put(gzipSync(Buffer.alloc(100_000)).subarray(0, 100), link.token, 'gzip');
      assert.deepEqual([bomb.status, bomb.refusal.error], [415, 'invalid_request']);
      const foreign = await link.put(Buffer.alloc(100, 'x'), other.token);
      assert.deepEqual([foreign.status, foreign.text], [401, '{"error":"unauthorized"}']);
      assert.deepEqual(await witness.changes(), []);
      assert.deepEqual([await link.offset(), await other.offset()], [0, 0]);
    });

    test('of run records: unknown versions, no object, numbers that no table holds', async () => {
      const put = (body: object, id = 'run_0001m7y804g33sn568qvqft2vt') =>
        world().member.request('PUT', `/api/cli/runs/${id}`, { body });
      const good = { workflow_id: methodId, version_id: 'ver_01m7y804g33sn568qvqft2vt00', sequence: 1, inspection: {} };
      await refused(put(good), 404, 'not_found');
      await refused(put(good, 'run_x'), 404, 'not_found');
      await refused(put({ ...good, sequence: -1 }), 400, 'invalid_request');
      await refused(put({ ...good, sequence: 2 ** 40 }), 400, 'invalid_request');
      await refused(put({ ...good, inspection: 'text' }), 400, 'invalid_request');
    });
  });
}
