import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveredEvent, Question, QuestionRules } from '../delivery/run-event.ts';
import { type Announcement, readJob } from './mail-job.ts';
import { planMail } from './mail-plan.ts';

const question: Question = {
  id: 'q_1',
  step: 's',
  prompt: 'p',
  details: '',
  show: [],
  formJson: '{}',
  askedAtMs: 1,
  deadlineAtMs: 0,
};
const rules: QuestionRules = {
  to: [],
  escalateTo: [],
  notStarter: false,
  forPeople: true,
  answersItself: false,
  voters: [],
};
const event: DeliveredEvent = {
  orgId: 'org_o',
  runId: 'run_r',
  seq: 1,
  method: 'wf_1',
  versionId: 'ver_v',
  contentLeftOut: false,
  webhookUrl: '',
  keyId: '',
  answerBy: 'team',
  createdAtMs: 1,
  change: { event: 'needs_input', question },
  follows: null,
  starter: { userId: 'usr_1', email: 'ada@example.com' },
};

function planned(
  fields: Partial<QuestionRules> = {},
  more: Partial<Question> = {},
  name = 'needs_input',
): Announcement {
  const change = { event: name, question: { ...question, ...more, rules: { ...rules, ...fields } } };
  const delivery = planMail({ ...event, change } as DeliveredEvent, 'dlv_1');
  const job = readJob(delivery?.body ?? Buffer.from('{}'));
  assert.ok(job.kind === 'announcement');
  return job;
}

test('at most 50 names are requested, none of them too long for an address', () => {
  const to = ['x'.repeat(400), ...Array.from({ length: 60 }, (_, n) => `${n}@example.com`)];
  assert.deepEqual(planned({ to }).to, to.slice(1, 51));
});

test('the starter is left out if they may not answer, and so are people who have answered', () => {
  const ben = { userId: '', email: 'ben@example.com' } as const;
  assert.deepEqual(planned().except, []);
  assert.deepEqual(planned({ notStarter: true, voters: [ben] }).except, [event.starter, ben]);
});

test('an escalation is for its own people', () => {
  const names = { to: ['member'], escalateTo: ['admin'] };
  assert.deepEqual(planned(names).to, ['member']);
  assert.deepEqual(planned(names, {}, 'question.reminded').to, ['member']);
  assert.deepEqual(planned(names, {}, 'question.escalated').to, ['admin']);
});

test('a reminder is also for people to whom the question was delegated', () => {
  const delegates = [
    { userId: 'usr_2', email: 'ben@example.com' },
    { userId: 'usr_3', email: '' },
  ] as const;
  assert.deepEqual(planned({}, { delegates }, 'question.reminded').also, ['ben@example.com']);
  assert.equal(planned({}, { delegates }).also, undefined);
});

test('an assigned question is only for the person who gets it, even if its rules name others', () => {
  const assigned = (to: object, fields: Partial<QuestionRules> = {}) => {
    const change = {
      event: 'question.assigned',
      question: { ...question, rules: { ...rules, ...fields } },
      to,
      by: 'Ann',
    };
    const delivery = planMail({ ...event, answerBy: 'application', change } as never, 'dlv_1');
    assert.equal(delivery?.event, 'question.assigned');
    return readJob(delivery.body) as Announcement;
  };
  const ben = { userId: 'usr_2', email: 'ben@example.com' } as const;
  const job = assigned(ben, { to: ['admin'], notStarter: true, voters: [ben] });
  assert.deepEqual([job.to, job.assignedBy, job.except], [[ben.email], 'Ann', [event.starter, ben]]);
  assert.equal(job.event, 'needs_input', 'as a notifier of the release before knows it');
  const [unknown = ''] = assigned({ userId: 'usr_2', email: '' }).to;
  assert.ok(unknown !== '' && !unknown.includes('@'), 'no name at all would be the publisher');
});

test('large texts and values are cut, since each recipient’s mail has them', () => {
  const large = 'é'.repeat(1 << 20);
  const show = Array.from({ length: 100 }, (_, n) => ({ path: large, valueJson: n % 2 ? `"${large}"` : `[${large}]` }));
  const job = planned({}, { prompt: large, details: large, show });
  assert.ok(JSON.stringify(job).length < 12_000, `${JSON.stringify(job).length}`);
  const [text] = planned({}, { show: [{ path: 'a', valueJson: '"line\\nbreak"' }] }).question.show;
  assert.deepEqual(text, { path: 'a', text: 'line break' });
});

test('an event without people makes no mail', () => {
  assert.equal(planMail({ ...event, answerBy: 'application' }, 'dlv_1'), null);
  assert.equal(planMail({ ...event, change: { event: 'cancelled' } }, 'dlv_1'), null);
});

test('of a run in device mode the mail is planned as one that has no content', () => {
  const sealed = { ...question, prompt: '', sealed: 'AQI', answersItself: true as const };
  const delivery = planMail({ ...event, onDevice: true, change: { event: 'needs_input', question: sealed } }, 'dlv_1');
  const job = readJob(delivery?.body ?? Buffer.from('{}'));
  assert.ok(job.kind === 'announcement');
  assert.deepEqual([job.question.onDevice, job.question.answersItself], [true, true]);
  assert.ok(!JSON.stringify(job).includes('AQI'));
});
