// Records of runs on people's own computers, and the earlier names of methods.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { newRunId } from '@methods/base/ids';
import { countingSource } from '../saved-method.ts';
import type { AccountWorld } from './account-world.ts';

interface SavedBody {
  readonly method_id: string;
  readonly version_id: string;
}

export function localRuns(world: () => AccountWorld): void {
  describe('a local run', () => {
    test('is kept by the newest record of it, apart from production runs', async () => {
      const { member, viewer } = world();
      const body = { workflow: countingSource(1), request_id: randomUUID() };
      const saved = (await member.request('POST', '/api/cli/methods', { body })).read<SavedBody>();
      const runId = newRunId(0);
      const put = (sequence: number, status: string) =>
        member.request('PUT', `/api/cli/runs/${runId}`, {
          body: {
            workflow_id: saved.method_id,
            version_id: saved.version_id,
            sequence,
            inspection: { status, steps: [{ name: 'work' }] },
          },
        });
      assert.deepEqual((await put(3, 'running')).read(), { run_id: runId, sequence: 3 });
      assert.equal((await put(3, 'running')).status, 200, 'a repeat');
      assert.deepEqual((await put(5, 'succeeded')).read(), { run_id: runId, sequence: 5 });
      const late = await put(4, 'running');
      assert.deepEqual([late.status, late.refusal.error, JSON.parse(late.text).sequence], [409, 'stale_sequence', 5]);

      const listed = async (query: string) =>
        (await viewer.request('GET', `/api/runs${query}`)).read<{ items: { run_id: string; status: string }[] }>()
          .items;
      const local = (await listed('?kind=local')).find(({ run_id: id }) => id === runId);
      assert.equal(local?.status, 'succeeded');
      assert.ok(!(await listed('')).some(({ run_id: id }) => id === runId), 'it is no production run');
      const one = await viewer.request('GET', `/api/runs/${runId}`);
      assert.deepEqual(one.read<{ inspection: object }>().inspection, {
        status: 'succeeded',
        steps: [{ name: 'work' }],
      });
    });
  });

  describe('the earlier name', () => {
    test('leads to the same methods, with the earlier names of their fields', async () => {
      const { member } = world();
      const body = { idempotency_key: randomUUID(), source: countingSource(2) };
      const made = (await member.request('POST', '/api/workflows', { body })).read<Record<string, { id: string }>>();
      assert.deepEqual(made.workflow, made.method);
      const id = made.method?.id ?? '';
      const [old, now] = await Promise.all(
        ['workflows', 'methods'].map((name) => member.request('GET', `/api/${name}/${id}`)),
      );
      assert.equal(old?.text, now?.text);
      const versions = await member.request('GET', `/api/workflows/wf_${id}/versions`);
      const [version] = versions.read<{ items: Record<string, string>[] }>().items;
      assert.deepEqual([version?.workflow_id, version?.method_id], [id, id]);
      const cli = await member.request('GET', `/api/cli/workflows/${id}`);
      const told = cli.read<Record<string, string>>();
      assert.deepEqual([told.workflow, told.source, told.workflow_id], [countingSource(2), countingSource(2), id]);
      assert.equal(cli.headers.get('etag'), `"${told.sha256}"`);
      const headers = { 'if-none-match': cli.headers.get('etag') ?? '' };
      assert.equal((await member.request('GET', `/api/cli/methods/${id}`, { headers })).status, 304);
    });
  });
}
