import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { RunEventName } from '../run/decision.ts';
import { newFacts } from '../store/run-store.fixture.ts';
import { HeardEvents } from './heard-events.ts';

const QUESTION_EVENTS = [
  'needs_input',
  'question.reminded',
  'question.escalated',
  'question.assigned',
  'question.closed',
] as const;
const ENDS = ['succeeded', 'failed', 'cancelled'] as const;

function parts(...taken: readonly RunEventName[]) {
  const clock = new ManualClock();
  const heard = new HeardEvents({ takesEvent: (_orgId, event) => taken.includes(event), clock });
  const kept = (webhookUrl: string | null = null) =>
    [...QUESTION_EVENTS, ...ENDS].filter((event) => heard.isHeard(newFacts(0, { webhookUrl }), event));
  return { clock, heard, kept };
}

test('events of questions are kept until a notifier reports that it sends no mail', () => {
  const { heard, kept } = parts();
  assert.deepEqual(kept(), QUESTION_EVENTS);
  heard.confirmed({ sendsNoMail: true });
  assert.deepEqual(kept(), []);
});

test('without mail a webhook gets the events delivered to it, but no assignments and closed questions', () => {
  const { heard, kept } = parts();
  heard.confirmed({ sendsNoMail: true });
  assert.deepEqual(kept('https://app.example/hook'), [...QUESTION_EVENTS.slice(0, 3), ...ENDS]);
});

for (const taken of QUESTION_EVENTS.slice(0, 3)) {
  test(`the end of a question is kept where an endpoint takes ${taken}, since its messages have links`, () => {
    const { heard, kept } = parts(taken);
    heard.confirmed({ sendsNoMail: true });
    assert.deepEqual(kept(), [taken, 'question.closed']);
  });
}

test('a notifier that sends mail may appear: the report of the others expires after 25 s', () => {
  const { clock, heard, kept } = parts();
  heard.confirmed({ sendsNoMail: true });
  clock.forward(24_999);
  assert.deepEqual(kept(), []);
  clock.forward(1);
  assert.deepEqual(kept(), QUESTION_EVENTS);
});

test('one notifier that sends mail counts for a minute, and others do not contradict it', () => {
  const { clock, heard, kept } = parts();
  heard.confirmed({ sendsNoMail: false });
  heard.confirmed({ sendsNoMail: true });
  clock.forward(59_999);
  heard.confirmed({ sendsNoMail: true });
  assert.deepEqual(kept(), QUESTION_EVENTS);
  clock.forward(1);
  assert.deepEqual(kept(), []);
});
