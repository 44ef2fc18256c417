import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { AnswerChannel, QuestionSchema, ReceiptSchema, RunStatus } from '@methods/proto/run/v1/run_pb';
import { answerFacts } from '../routes/runs/run-acts.ts';
import { queuedRun } from '../testing/queued-run.fixture.ts';
import { openQuestionJson } from './question-view.ts';
import { runViewJson } from './run-view.ts';

const facts = { runId: 'run_0', method: 'wf_0', versionId: 'ver_0', createdAtMs: 0 } as const;
const actor = { personId: 'usr_1' as const, name: 'Ann', email: 'ann@example.com', role: 'member' };
const receipt = create(ReceiptSchema, {
  questionId: 'q_1' as const,
  step: 'approve',
  prompt: 'Pay?',
  askedAtMs: 1_000,
  answeredAtMs: 2_000,
  actor,
  channel: AnswerChannel.INBOX,
  comment: 'Seen "it".',
  answerJson: '{"sum":12345678901234567890}',
  formHash: 'f0',
  versionHash: 'e0',
  votes: [{ actor: { linkRecipient: 'ben@example.com' }, atMs: 1_500, channel: AnswerChannel.LINK }],
});

test('a run shows who answered what was asked, when, how, and the hashes of it; numbers stay exact', () => {
  const json = runViewJson(queuedRun(facts, { answers: [receipt] }), [], 0);
  assert.match(json, /"answer":\{"sum":12345678901234567890\}/);
  const [shown] = JSON.parse(json).answers;
  assert.deepEqual(
    { ...shown, answer: null },
    {
      question_id: 'q_1',
      step: 'approve',
      prompt: 'Pay?',
      asked_at: '1970-01-01T00:00:01.000Z',
      answered_at: '1970-01-01T00:00:02.000Z',
      by: { kind: 'user', id: 'usr_1', name: 'Ann', email: 'ann@example.com' },
      channel: 'inbox',
      comment: 'Seen "it".',
      answer: null,
      form_sha256: 'f0',
      version_sha256: 'e0',
      votes: [{ by: { kind: 'link', recipient: 'ben@example.com' }, at: '1970-01-01T00:00:01.500Z', channel: 'link' }],
    },
  );
});

test('the answer of a deadline belongs to no person, and a key is named by its id and name', () => {
  const timeout = { ...receipt, actor: undefined, channel: AnswerChannel.TIMEOUT };
  const key = { ...receipt, actor: { ...receipt.actor, keyId: 'key_1', name: 'shop' }, channel: AnswerChannel.API };
  const answers = [timeout, key].map((one) => create(ReceiptSchema, one as never));
  const shown = JSON.parse(runViewJson(queuedRun(facts, { answers }), [], 0)).answers;
  assert.deepEqual(
    shown.map(({ by, channel }: { by: unknown; channel: string }) => [by, channel]),
    [
      [null, 'timeout'],
      [{ kind: 'service_key', id: 'key_1', name: 'shop' }, 'api'],
    ],
  );
});

test('an open question shows its rules and its votes', () => {
  const question = create(QuestionSchema, {
    id: 'q_1' as const,
    policy: { to: ['admin'], notStarter: true, needs: 2, needsOn: ['ok'], escalateTo: ['ann@example.com'] },
    votes: [{ actor, answerJson: '{"ok":true}', atMs: 1_000, channel: AnswerChannel.API }],
    assignee: 'usr_1',
    delegations: [{ from: actor, to: { personId: 'usr_2' as const }, atMs: 1_000 }],
    escalatedAtMs: 2_000,
  });
  const { to, not_starter, needs, votes, assignee, delegations, escalated } = JSON.parse(openQuestionJson(question));
  assert.deepEqual([to, not_starter, needs, assignee], [['admin'], true, { count: 2, on: ['ok'] }, 'usr_1']);
  assert.deepEqual([votes[0].by.name, votes[0].answer, delegations[0].to.id], ['Ann', { ok: true }, 'usr_2']);
  assert.deepEqual(escalated, { at: '1970-01-01T00:00:02.000Z', to: ['ann@example.com'] });
});

test('the audit log gets the facts of a receipt or of a vote, and no content', () => {
  const answered = answerFacts(queuedRun(facts, { answers: [receipt] }), 'q_1', AnswerChannel.INBOX);
  const hashes = { form_sha256: 'f0', version_sha256: 'e0' };
  assert.deepEqual(answered, { question_id: 'q_1', channel: 'inbox', counted: 'answer', ...hashes });
  const question = create(QuestionSchema, { id: 'q_2' as const, policy: { needs: 2 }, formSha256: 'f1' });
  const waiting = queuedRun(facts, { answers: [receipt], status: RunStatus.WAITING, question });
  const vote = answerFacts(waiting, 'q_2', AnswerChannel.LINK);
  assert.deepEqual(vote, { question_id: 'q_2', channel: 'link', counted: 'vote', form_sha256: 'f1' });
  assert.equal(answerFacts(waiting, 'q_1', AnswerChannel.INBOX).counted, 'answer');
});
