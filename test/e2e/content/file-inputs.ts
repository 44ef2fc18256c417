// Files as inputs of runs: sent once, read by steps on a worker, kept for what comes later, and open to no other caller.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { TEST_DOER } from '../../harness/test-doer.ts';
import { until } from '../../harness/until.ts';
import type { ApiClient, RunBody } from '../api-client.ts';
import { otherOrganization, secondKey } from '../other-callers.ts';
import type { Stack } from '../stack.ts';

interface SentFile {
  readonly file_id: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
}

/** Of more than one row of the store, and no text. */
const LARGE = Buffer.alloc(600_000, 0xff);
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

async function send(api: ApiClient, content: string | Buffer<ArrayBuffer>, name = 'notes.txt'): Promise<SentFile> {
  const headers = { 'content-type': 'text/plain', 'x-file-name': encodeURIComponent(name) };
  return (await api.request('POST', '/v1/files', { text: content, headers })).read<SentFile>();
}

const named = ({ file_id }: Pick<SentFile, 'file_id'>) => ({ file_id });

export function fileInputs(stack: () => Stack): void {
  describe('a file of a caller', () => {
    const body = (inputs: object) => ({ method: stack().method('digest-files'), inputs });

    test('is read by the steps of the run, by those after a question, and by a rerun', async () => {
      const { api } = stack();
      const [a, large, empty] = await Promise.all([
        send(api, 'one', 'ein Brief ü.txt'),
        send(api, LARGE, 'large.bin'),
        send(api, '', 'empty'),
      ]);
      assert.equal(a.sha256, sha256('one'));
      const list = [large, empty];
      const waiting = await api.startSettled(body({ a: named(a), list: list.map(named), ask: true }));
      assert.equal(waiting.status, 'waiting', JSON.stringify(waiting.error));
      // No start may name it from here on; the run keeps it.
      assert.equal((await api.request('DELETE', `/v1/files/${a.file_id}`)).status, 204);
      await api.answer(waiting.run_id, { go: true });
      const run = await api.settled(waiting.run_id, waiting.question?.id);
      assert.deepEqual(digests(run), {
        first: sha256('one'),
        name: 'ein Brief ü.txt',
        list: [sha256(LARGE), sha256('')],
        later: sha256('one'),
      });
      const { path, ...file } = (run.result as { file: SentFile & { path: string } }).file;
      assert.deepEqual([path, file], [`inputs/${a.file_id}/${a.name}`, withoutEnd(a)]);
      for (const sent of [a, large, empty]) {
        const bytes = await contentOf(api, run.run_id, `inputs/${sent.file_id}/${encodeURIComponent(sent.name)}`);
        assert.deepEqual([bytes.length, sha256(bytes)], [sent.bytes, sent.sha256]);
      }

      const rerun = async (from: object) =>
        api.settled((await api.request('POST', `/v1/runs/${run.run_id}/rerun`, { body: from })).run.run_id);
      assert.deepEqual(digests(await rerun({ from_step: 'later' })), digests(run));
      const asked = await rerun({});
      await api.answer(asked.run_id, { go: true });
      assert.deepEqual(digests(await api.settled(asked.run_id, asked.question?.id)), digests(run));
    });

    test('of a key that is revoked stays with the runs that name it, and no other caller may name it', async () => {
      const { api, registry } = stack();
      const { key, keyId, orgId } = await secondKey(stack());
      const second = api.as(key);
      const [used, unused] = await Promise.all([send(second, 'used'), send(second, 'unused')]);
      const waiting = await second.startSettled(body({ a: named(used), ask: true }));
      assert.equal(waiting.status, 'waiting', JSON.stringify(waiting.error));
      await registry.revokeServiceKey({ orgId, keyId, doer: TEST_DOER });
      await until('the key is refused', async () => (await second.start(body({ a: named(unused) }))).status === 401);
      const refused = await api.start(body({ a: named(unused) }));
      assert.deepEqual([refused.status, refused.refusal.details?.[0]?.code], [422, 'unknown_file']);
      await api.answer(waiting.run_id, { go: true });
      const run = await api.settled(waiting.run_id, waiting.question?.id);
      assert.equal(digests(run).later, sha256('used'));
      const bytes = await contentOf(api, run.run_id, `inputs/${used.file_id}/${used.name}`);
      assert.equal(String(bytes), 'used');
    });

    test('is refused where it is a path, unknown, or of another key or organization', async () => {
      const { api } = stack();
      const callers = await Promise.all([secondKey(stack()), otherOrganization(stack())]);
      const own = named(await send(api, 'own'));
      const facts = { name: 'passwd', bytes: 1, sha256: sha256('x'), media_type: 'text/plain' };
      const forged = { path: '/etc/passwd', ...facts };
      for (const a of [forged, { path: '/etc/passwd' }, { ...forged, ...own }, '/etc/passwd', { $file: 'x' }, [own]]) {
        await refused({ a: own, list: [own, a] }, '/list/1');
      }
      await refused({ a: forged }, '/a');
      const others = await Promise.all(callers.map(({ key }) => send(api.as(key), 'theirs')));
      for (const file of [...others, { file_id: `file_${'0'.repeat(26)}` }]) {
        await refused({ a: named(file) }, '/a', 'unknown_file');
        for (const method of ['GET', 'DELETE']) {
          assert.equal((await api.request(method, `/v1/files/${file.file_id}`)).status, 404);
        }
      }

      async function refused(inputs: object, path: string, code?: string): Promise<void> {
        const { status, refusal } = await api.start(body(inputs));
        assert.deepEqual([status, refusal.error], [422, 'invalid_inputs'], JSON.stringify(inputs));
        const [finding] = refusal.details ?? [];
        assert.ok(finding?.path.startsWith(path), JSON.stringify([inputs, refusal]));
        if (code !== undefined) assert.equal(finding?.code, code);
      }
    });
  });
}

async function contentOf({ baseUrl, apiKey }: ApiClient, runId: string, path: string): Promise<Buffer<ArrayBuffer>> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${baseUrl}/v1/runs/${runId}/files/${path}`, { headers });
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
}

function digests({ result, status, error }: RunBody) {
  assert.equal(status, 'succeeded', JSON.stringify(error));
  const { first, name, list, later } = result ?? {};
  return { first, name, list, later };
}

function withoutEnd(file: SentFile): SentFile {
  const { file_id, name, bytes, sha256, media_type } = file;
  return { file_id, name, bytes, sha256, media_type };
}
