// Questions and answers between a process of this release and one of the release before, which knows no rules and no
// actors. What it leaves out counts as said by no one; what it does not know, it passes over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { RunCommandSchema, StoredEventsSchema } from '@methods/proto/event/v1/event_pb';
import { QuestionSchema } from '@methods/proto/run/v1/run_pb';
import { AnswerRunSchema, StartRunSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { AskSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { readEarlier, writtenEarlier } from '@methods/test/harness/earlier-proto';
import { mayAnswer } from '../run/answerers.ts';
import { person, runs } from '../run/run.fixture.ts';
import type { OpenQuestion } from '../run/run.ts';
import { commandMessage, commandOf, type PublicCommand } from './command-message.ts';
import { partyOf, questionMessage } from './question-message.ts';

const RULES = {
  ...{ to: ['ann@example.com'], notStarter: true, needs: { count: 2, on: ['ok'] } },
  ...{ remindMs: [1], escalate: { afterMs: 2, to: ['admin'] }, timeoutAnswerJson: '{}' },
};
const vote = { by: person('ann'), answerJson: '{}', atMs: 1, channel: 'link' as const, comment: 'fine' };
const asked: OpenQuestion = { ...runs.waiting.question, policy: RULES, votes: [vote], assignee: 'usr_ann' };

test('an answer of an earlier node has no actor: it counts where no rule is about people, and nowhere else', () => {
  const digest = Buffer.from('aa', 'hex').toString('base64');
  const answer = { questionId: 'q_1', answerJson: '{"ok":true}', digest };
  const bytes = writtenEarlier(RunCommandSchema, { commandId: 'c', orgId: 'org_1', runId: 'run_1', answer });
  const command = commandOf(fromBinary(RunCommandSchema, bytes).command);
  assert.deepEqual(command, {
    ...{ type: 'answer', questionId: 'q_1', answerJson: '{"ok":true}', digest: 'aa' },
    ...{ by: null, channel: null, comment: '' },
  });
  assert.equal(mayAnswer({ starter: null }, { ...runs.waiting.question }, null), true);
  assert.equal(mayAnswer({ starter: null }, asked, null), false);
});

test('a start and an answer of an earlier gateway name no one', () => {
  const start = fromBinary(StartRunSchema, writtenEarlier(StartRunSchema, { orgId: 'org_1', keyId: 'key_1' }));
  const answer = fromBinary(AnswerRunSchema, writtenEarlier(AnswerRunSchema, { orgId: 'org_1', answerJson: '{}' }));
  assert.deepEqual([partyOf(start.starter), partyOf(answer.actor), answer.comment], [null, null, '']);
});

test('a question of an earlier worker is asked without what only the source may say', () => {
  const question = { id: 'q_1', step: 'approve', prompt: 'Pay?', formJson: '{}' };
  const ask = fromBinary(AskSchema, writtenEarlier(AskSchema, { runId: 'run_1', token: 't', question }));
  const { policy, votes, delegations, assignee, escalatedAtMs } = ask.question ?? assert.fail();
  assert.deepEqual([policy, votes, delegations, assignee, escalatedAtMs], [undefined, [], [], '', 0]);
});

test('an earlier gateway reads a question without its rules, and all that it had before', () => {
  const bytes = toBinary(QuestionSchema, create(QuestionSchema, questionMessage(asked)));
  const { id, step, prompt, formJson, ...others } = readEarlier(QuestionSchema, bytes);
  assert.deepEqual([id, step, prompt, formJson], [asked.id, asked.step, asked.prompt, asked.formJson]);
  assert.deepEqual(
    ['policy', 'votes', 'assignee'].filter((name) => name in others),
    [],
  );
});

test('an earlier owner decides an answer without its actor, and leaves what it does not know undecided', () => {
  const read = (command: PublicCommand) => {
    const message = create(RunCommandSchema, { commandId: 'c', runId: 'run_1', command: commandMessage(command) });
    return readEarlier(RunCommandSchema, toBinary(RunCommandSchema, message));
  };
  const by = person('ann');
  const given = { by, channel: 'inbox', comment: 'fine' } as const;
  const answer = { type: 'answer', questionId: 'q_1', answerJson: '{}', digest: 'aa', ...given } as const;
  const digest = Buffer.from('aa', 'hex').toString('base64');
  assert.deepEqual(read(answer).answer, { questionId: 'q_1', answerJson: '{}', digest });
  for (const command of [
    { type: 'assign_question', questionId: 'q_1', by, assignee: by },
    { type: 'delegate_question', questionId: 'q_1', by, to: by },
  ] as const) {
    assert.deepEqual(read(command), { commandId: 'c', runId: 'run_1' });
  }
});

test('the confirmation of an earlier notifier does not say that it sends no mail', () => {
  const bytes = writtenEarlier(StoredEventsSchema, { outboxIds: ['box_1'] });
  assert.equal(fromBinary(StoredEventsSchema, bytes).sendsNoMail, false);
});
