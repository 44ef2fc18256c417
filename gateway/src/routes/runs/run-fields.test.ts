import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { Run } from '@methods/api/run';
import { RunStatus, RunViewSchema } from '@methods/proto/run/v1/run_pb';
import { runViewJson } from '../../views/run-view.ts';

test('the fields of a run in JSON are those of its schema', () => {
  const error = { code: 'step_failed' };
  const runs = [
    { status: RunStatus.QUEUED, queuedReason: 'sleeping', wakeAtMs: 1, cancelRequested: true, ending: error },
    { status: RunStatus.RUNNING, starter: { keyId: 'key_1' as const } },
    { status: RunStatus.WAITING, question: { formJson: '{}' } },
    { status: RunStatus.SUCCEEDED, resultJson: '1', answers: [{ questionId: 'q_1' as const }] },
    { status: RunStatus.FAILED, error, rerunOf: 'run_1' as const },
    { status: RunStatus.SUCCEEDED, contentId: '0'.repeat(32) },
  ].map((run) => JSON.parse(runViewJson(create(RunViewSchema, run), [], 0)) as object);
  assert.deepEqual(new Set(runs.flatMap(Object.keys)), new Set(Object.keys(Run.properties)));
  for (const run of runs) {
    for (const name of Run.required) assert.ok(name in run, name);
  }
});
