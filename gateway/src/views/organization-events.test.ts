import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { QuestionChange, QuestionNewsSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { questionEvents } from './organization-events.ts';

function told(...changes: Partial<MessageInitShape<typeof QuestionNewsSchema>>[]) {
  const about = { questionId: 'q_1', runId: 'run_1', method: 'wf_1', step: 'say "so"', askedAtMs: 1_000 } as const;
  const news = changes.map((change) =>
    create(QuestionNewsSchema, { ...about, ...change } as MessageInitShape<typeof QuestionNewsSchema>),
  );
  return questionEvents(news).map((text) => {
    const [, event, id, data = ''] = /^event: (.*)\nid: (.*)\ndata: (.*)\n\n$/.exec(text('ring-1')) ?? [];
    assert.equal(id, 'ring-1');
    return { event, data: JSON.parse(data) };
  });
}

test('each change of a question is an event of its name, and a change of a later release is no event', () => {
  const { ASKED, CHANGED, REMINDED, ESCALATED, UNSPECIFIED } = QuestionChange;
  const changes = [ASKED, CHANGED, REMINDED, ESCALATED, UNSPECIFIED, 99].map((change) => ({ change }));
  assert.deepEqual(
    told(...changes).map(({ event }) => event),
    ['question', 'question.changed', 'question.reminded', 'question.escalated'],
  );
});

test('the end of a question shows how it ended', () => {
  const { ANSWERED, EXPIRED, CANCELLED } = QuestionChange;
  assert.deepEqual(
    told({ change: ANSWERED }, { change: EXPIRED }, { change: CANCELLED }).map(({ event, data }) => [
      event,
      data.reason,
    ]),
    ['answered', 'expired', 'cancelled'].map((reason) => ['question.closed', reason]),
  );
});

test('an event names the run, and the question with its people', () => {
  const question = { id: 'q_1', step: 'say "so"', asked_at: '1970-01-01T00:00:01.000Z', deadline_at: null };
  const where = { run_id: 'run_1', method: 'wf_1' };
  const people = { assignee: 'usr_1', needs: 2, votes: 1, deadlineAtMs: 2_000 };
  const [asked, changed] = told({ change: QuestionChange.ASKED }, { change: QuestionChange.CHANGED, ...people });
  assert.deepEqual(asked?.data, { ...where, question });
  assert.deepEqual(changed?.data, {
    ...where,
    question: {
      ...question,
      ...{ deadline_at: '1970-01-01T00:00:02.000Z', assignee: 'usr_1', needs: 2, votes_given: 1 },
    },
  });
});
