import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerRefusal, answerersOf, answerRefusal } from './answerers.ts';
import type { Party } from './party.ts';
import type { AnswerPolicy } from './policy.ts';
import { key, person, recipient, runs, T0 } from './run.fixture.ts';
import type { OpenQuestion } from './run.ts';

const NO_RULES: AnswerPolicy = {
  ...{ to: [], notStarter: false, needs: null },
  ...{ remindMs: [], escalate: null, timeoutAnswerJson: null },
};
const [ann, ben, cat] = [person('ann'), person('ben'), person('cat')];
const eve = person('eve', 'viewer');

type Refusals = readonly (AnswerRefusal | null)[];

function refusals(policy: Partial<AnswerPolicy> | null, readers: Party[], more: Partial<OpenQuestion> = {}): Refusals {
  const question = { ...runs.waiting.question, ...(policy && { policy: { ...NO_RULES, ...policy } }), ...more };
  return readers.map((reader) => answerRefusal(answerersOf({ starter: cat }, question), reader));
}

test('a reader learns why the rules exclude them', () => {
  assert.deepEqual(refusals(null, [ann, cat, key, eve]), [null, null, null, 'viewer']);
  assert.deepEqual(refusals({ to: [ann.email] }, [ann, ben, eve, key]), [null, 'not_named', 'not_named', 'program']);
  assert.deepEqual(refusals({ notStarter: true }, [ann, cat, eve, key]), [null, 'starter', 'viewer', 'program']);
  // Their own link makes them no other person.
  assert.deepEqual(refusals({ to: [cat.email], notStarter: true }, [recipient('cat')]), ['starter']);
});

test('not_starter excludes no person from a run that a key started, and no key may answer', () => {
  for (const starter of [key, null]) {
    const question = { ...runs.waiting.question, policy: { ...NO_RULES, notStarter: true } };
    const answerers = answerersOf({ starter }, question);
    assert.deepEqual(
      [ann, cat, key].map((reader) => answerRefusal(answerers, reader)),
      [null, null, 'program'],
    );
  }
});

test('a delegation and an escalation add people, but not the starter', () => {
  const escalate = { afterMs: 1, to: [ben.email] };
  const rules = { to: [ann.email], notStarter: true, escalate };
  assert.deepEqual(refusals(rules, [ben, eve]), ['not_named', 'not_named']);
  assert.deepEqual(refusals(rules, [ben, eve], { escalatedAtMs: T0 }), [null, 'not_named']);
  const delegations = [eve, cat].map((to) => ({ from: ann, to, atMs: T0 }));
  assert.deepEqual(refusals(rules, [eve, cat], { delegations }), [null, 'starter']);
  assert.deepEqual(refusals(null, [eve], { delegations }), [null]);
});

test('a person has answered for good through their link, and not in another way', () => {
  const vote = (by: Party) => ({ by, answerJson: '{}', atMs: T0, channel: null, comment: '' });
  const votes = [vote(recipient('ann')), vote(ben)];
  assert.deepEqual(refusals({ needs: { count: 3, on: [] } }, [ann, ben], { votes }), ['voted', null]);
});
