// `npm run check` compiles this file: where a swap of ids were no longer an error, "@ts-expect-error" would be one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { newId, newMethodId, newRunId, productionMethodId } from '@methods/base/ids';
import { AnswerRunSchema, type GetRun, StartRunSchema } from './gen/methods/scheduler/v1/run_scheduler_service_pb.ts';

const [orgId, versionId, runId] = [newId('org'), newId('ver'), newRunId(0)];
const method = productionMethodId(newMethodId());

test('ids cannot be swapped in a message that is made', () => {
  assert.equal(create(StartRunSchema, { orgId, method, versionId }).orgId, orgId);
  // @ts-expect-error
  assert.equal(create(StartRunSchema, { orgId: versionId, method, versionId: orgId }).orgId, versionId);
});

test('ids cannot be swapped when a message is read', () => {
  const read = ({ orgId: org, runId: run }: GetRun): { orgId: `org_${string}`; runId: `run_${string}` } => ({
    orgId: org,
    runId: run,
  });
  // @ts-expect-error
  const swapped = ({ orgId: org, runId: run }: GetRun): { runId: `run_${string}` } => ({ runId: org, ran: run });
  const message: GetRun = { $typeName: 'methods.scheduler.v1.GetRun', orgId, runId };
  assert.deepEqual(read(message), { orgId, runId });
  assert.equal(swapped(message).runId, orgId);
});

test('a field that may be empty says so', () => {
  const { questionId } = create(AnswerRunSchema, { orgId, runId, questionId: '', answerJson: '{}' });
  // @ts-expect-error
  const question: `q_${string}` = questionId;
  assert.equal(question, '');
});
