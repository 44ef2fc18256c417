// Laws that hold for any policy and any order of commands, behind the examples of `answer-policy.test.ts`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mayAnswer } from './answerers.ts';
import { isSamePerson, type Party } from './party.ts';
import type { AnswerPolicy } from './policy.ts';
import { timerOf } from './question.ts';
import {
  answer,
  cancel,
  DEADLINE_MS,
  delegate,
  expireQuestion,
  key,
  person,
  recipient,
  runs,
  T0,
} from './run.fixture.ts';
import type { Run, WaitingRun } from './run.ts';
import type { RunCommand } from './run-command.ts';
import { transition } from './transition.ts';

const NAMES = ['ann', 'ben', 'cat', 'dan'] as const;
const CHOICES = ['yes', 'no'] as const;
/** Members, their links, links that a member opens, a viewer, and a key. */
const PARTIES: readonly Party[] = [
  ...NAMES.map((name) => person(name)),
  ...NAMES.map((name) => recipient(name)),
  ...NAMES.map((name) => ({ ...recipient(name), personId: `usr_${name}` })),
  person('eve', 'viewer'),
  key,
];
const party = fc.constantFrom(...PARTIES);
const choice = fc.constantFrom(...CHOICES);

const policy: fc.Arbitrary<AnswerPolicy> = fc.record({
  to: fc.subarray(['ann@example.com', 'ben@example.com', 'eve@example.com', 'member', 'admin']),
  notStarter: fc.boolean(),
  needs: fc.option(fc.record({ count: fc.integer({ min: 1, max: 4 }), on: fc.constantFrom<string[]>([], ['choice']) })),
  remindMs: fc
    .uniqueArray(fc.integer({ min: 1, max: DEADLINE_MS - 1 }), { maxLength: 4 })
    .map((times) => times.sort((a, b) => a - b)),
  escalate: fc.option(
    fc.record({
      afterMs: fc.integer({ min: 1, max: DEADLINE_MS - 1 }),
      to: fc.constantFrom<string[]>(['admin'], ['dan@example.com']),
    }),
  ),
  timeoutAnswerJson: fc.constantFrom(null, '{"choice":"late"}'),
});

const command: fc.Arbitrary<RunCommand> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(party, choice, fc.nat(2)).map(([by, value, note]) => given(by, value, note)) },
  { weight: 1, arbitrary: fc.tuple(party, party).map(([by, to]) => delegate('q_1', to, by)) },
  { weight: 3, arbitrary: fc.constant(expireQuestion('q_1')) },
  { weight: 1, arbitrary: fc.constant(cancel) },
);
const story = fc.record({
  policy,
  starter: fc.option(party),
  commands: fc.array(fc.tuple(fc.nat(DEADLINE_MS / 2), command), { maxLength: 30 }),
});

function given(by: Party, value: string, note: number): RunCommand {
  const answerJson = JSON.stringify({ choice: value, note });
  return { ...answer('q_1', answerJson), answerJson, by, channel: by.linkRecipient === '' ? 'inbox' : 'link' };
}

interface Told {
  readonly before: Run;
  readonly command: RunCommand;
  readonly after: Run;
  readonly events: readonly string[];
  readonly atMs: number;
}

/** Yields each change of the story, in order; a refused command changes nothing. */
function* changes({
  policy: rules,
  starter,
  commands,
}: typeof story extends fc.Arbitrary<infer S> ? S : never): Generator<Told> {
  const { facts, question, ...rest } = runs.waiting;
  let run: Run = { ...rest, facts: { ...facts, starter }, question: { ...question, policy: rules } } as WaitingRun;
  let atMs = T0;
  for (const [laterMs, one] of commands) {
    atMs += laterMs;
    const decision = transition(run, one, atMs);
    if (decision.kind !== 'changed') continue;
    const before: Run = run;
    run = { ...decision.run, revision: before.revision + 1 };
    const events = decision.effects.flatMap((effect) => (effect.type === 'emit' ? [effect.event] : []));
    yield { before, command: one, after: run, events, atMs };
  }
}

const RUNS = { numRuns: 400 };

test('a question has at most one outcome, and reports it once', () => {
  fc.assert(
    fc.property(story, (told) => {
      const all = [...changes(told)];
      const closed = all.filter(({ events }) => events.includes('question.closed'));
      assert.ok(closed.length <= 1);
      const left = all.findIndex(({ after }) => after.status !== 'waiting');
      assert.equal(closed.length, left === -1 ? 0 : 1);
      if (left === -1) return;
      // From then on only a cancel changes the run, and the answer stays.
      const [{ after: decided }, later] = [all[left] as Told, all.slice(left + 1)];
      assert.ok(later.every(({ command: { type } }) => type === 'cancel'));
      assert.ok(later.every(({ after }) => after.answer === decided.answer && after.answers === decided.answers));
      assert.ok(decided.answers.length - runs.waiting.answers.length <= 1);
    }),
    RUNS,
  );
});

test('an answer that counts comes from a person who may answer; needed people are different, agree, and are not the starter', () => {
  fc.assert(
    fc.property(story, (told) => {
      for (const { before, after, command: one } of changes(told)) {
        if (before.status !== 'waiting' || one.type !== 'answer') continue;
        assert.ok(mayAnswer(before.facts, before.question, one.by));
        const { needs = null } = told.policy;
        if (after.status !== 'queued' || needs === null) continue;
        const people = after.answers.at(-1)?.votes?.map(({ by }) => by) ?? [];
        const different = people.filter((by, i) => !people.slice(0, i).some((other) => isSamePerson(other, by)));
        assert.ok(different.length >= needs.count, `${different.length} of ${needs.count}`);
        const { starter } = told;
        if (told.policy.notStarter && starter !== null) assert.ok(!people.some((by) => isSamePerson(by, starter)));
      }
    }),
    RUNS,
  );
});

test('while a question is open each person has one vote, the vote of a link stays, and too few agree', () => {
  fc.assert(
    fc.property(story, (told) => {
      for (const { before, after } of changes(told)) {
        if (before.status !== 'waiting' || after.status !== 'waiting') continue;
        const [was, is] = [before.question.votes ?? [], after.question.votes ?? []];
        for (const [i, { by }] of is.entries()) {
          assert.ok(!is.slice(i + 1).some((other) => isSamePerson(other.by, by)));
        }
        for (const vote of was.filter(({ by }) => by.linkRecipient !== '')) assert.ok(is.includes(vote));
        const count = told.policy.needs?.count ?? 1;
        for (const value of CHOICES) {
          const agreeing = is.filter(({ answerJson }) => JSON.parse(answerJson).choice === value);
          if (told.policy.needs?.on.length === 1) assert.ok(agreeing.length < count);
        }
      }
    }),
    RUNS,
  );
});

test('the times of a question come in order, each once, and none too early', () => {
  fc.assert(
    fc.property(story, (told) => {
      let reminders = 0;
      let escalations = 0;
      for (const { before, after, events, atMs } of changes(told)) {
        assert.ok(timerOf(before, after) <= atMs);
        if (after.status === 'waiting') {
          assert.ok((after.question.reminders ?? 0) >= reminders);
          reminders = after.question.reminders ?? 0;
          assert.ok(reminders <= told.policy.remindMs.filter((ms) => T0 + ms <= atMs).length);
        }
        escalations += events.filter((event) => event === 'question.escalated').length;
        if (events.includes('failed')) assert.ok(atMs >= T0 + DEADLINE_MS);
      }
      assert.ok(escalations <= (told.policy.escalate === null ? 0 : 1));
    }),
    RUNS,
  );
});
