// Running a run again, and what a caller reads of a method.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { until } from '../../harness/until.ts';
import type { RunBody } from '../api-client.ts';
import { countingSource, SavedMethod } from '../saved-method.ts';
import type { Stack } from '../stack.ts';
import { leavesRunsUnchanged } from '../unchanged-runs.ts';

export function reruns(stack: () => Stack): void {
  describe('a rerun', () => {
    const rerun = (runId: string, body?: object) =>
      stack().api.request('POST', `/v1/runs/${runId}/rerun`, body === undefined ? {} : { body });

    test('keeps the version and the inputs of a run, though another version is published since', async () => {
      const method = await SavedMethod.create(stack(), countingSource(0));
      await method.publish();
      const start = { method: method.id, inputs: { n: 0 }, metadata: { customer: '7' } };
      const { run: first } = await stack().api.start(start);
      await stack().api.cancel(first.run_id);
      await method.save(countingSource(1));
      await method.publish();
      // The gateway gets it over the bus.
      await until('the other version counts', async () => (await stack().api.start(start)).status === 422);
      const reply = await rerun(first.run_id);
      assert.equal(reply.status, 201);
      const second = reply.run;
      assert.deepEqual(second, { run_id: second.run_id, version_id: first.version_id, status: 'queued' });
      const read = (await stack().api.get(second.run_id)).read<RunBody & { metadata: object }>();
      assert.deepEqual([read.method, read.metadata, read.attempts], [method.id, { customer: '7' }, 0]);
      await stack().api.cancel(second.run_id);
    });

    test('runs to its own result and leaves the first run as it is', async () => {
      const first = await stack().api.startSettled({ method: stack().method('greet'), inputs: {} });
      const reply = await rerun(first.run_id, { idempotency_key: `again-${first.run_id}` });
      const second = await stack().api.settled(reply.run.run_id);
      assert.deepEqual([second.status, second.result], [first.status, first.result]);
      assert.deepEqual((await stack().api.get(first.run_id)).run, first);
      const again = await leavesRunsUnchanged(stack(), () =>
        rerun(first.run_id, { idempotency_key: `again-${first.run_id}` }),
      );
      assert.deepEqual([again.status, again.run.run_id, again.run.status], [200, second.run_id, second.status]);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
    });

    test('from a later step keeps what the steps before it came to, with their files', async () => {
      const first = await stack().api.startSettled({ method: stack().method('draw-and-tell'), inputs: {} });
      const { number, written, note } = first.result as { number: number; written: string; note: { path: string } };
      assert.equal(written, String(number));
      const again = await stack().api.settled((await rerun(first.run_id)).run.run_id);
      assert.notEqual((again.result as { number: number }).number, number);
      const reply = await rerun(first.run_id, { from_step: 'tell' });
      assert.equal(reply.status, 201);
      const later = await stack().api.settled(reply.run.run_id);
      assert.deepEqual([later.status, later.result], ['succeeded', first.result]);
      assert.deepEqual(
        later.steps.map(({ name, attempt }) => [name, attempt]),
        [
          ['draw', 0],
          ['tell', 1],
        ],
      );
      for (const { run_id: runId } of [first, later]) {
        const { baseUrl, apiKey } = stack().api;
        const headers = { authorization: `Bearer ${apiKey}` };
        const files = await fetch(`${baseUrl}/v1/runs/${runId}/files`, { headers });
        assert.deepEqual([files.status, files.headers.get('content-type')], [200, 'application/gzip']);
        assert.ok(gunzipSync(Buffer.from(await files.arrayBuffer())).includes(note.path), runId);
        const file = await fetch(`${baseUrl}/v1/runs/${runId}/files/${note.path}`, { headers });
        assert.deepEqual([file.status, await file.text()], [200, written]);
      }
    });

    test('of a run that is not there is refused, and makes none', async () => {
      const reply = await leavesRunsUnchanged(stack(), () => rerun('run_0101m7y804g33sn568qvqft2vt'));
      assert.deepEqual([reply.status, reply.refusal.error], [404, 'not_found']);
    });
  });

  test('a caller reads what goes into a method and what comes out', async () => {
    const method = await SavedMethod.create(stack(), countingSource(2));
    const read = async () =>
      (await stack().api.request('GET', `/v1/methods/${method.id}`)).read<Record<string, unknown>>();
    const unpublished = await read();
    assert.deepEqual([unpublished.published_version, unpublished.version_id], [null, method.versionId]);
    await method.publish();
    const published = method.versionId;
    await method.save(countingSource(3));
    const told = await read();
    assert.deepEqual(
      [told.method, told.published_version, told.current_version, told.version_id, told.secrets, told.questions],
      [method.id, published, method.versionId, published, [], []],
    );
    assert.deepEqual(
      (told.versions as { version_id: string }[]).map((version) => version.version_id),
      [method.versionId, published],
    );
    assert.match(JSON.stringify(told.inputs), /"minimum":2/);
    assert.ok(told.result_schema && !('source' in told));
  });
}
