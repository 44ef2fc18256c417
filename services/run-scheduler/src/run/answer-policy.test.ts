// Who may answer a question, and how a question with rules proceeds: votes, delegations, and its times.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RefusalCode } from './decision.ts';
import type { Party } from './party.ts';
import type { AnswerPolicy } from './policy.ts';
import {
  answer,
  ask,
  assign,
  claim,
  DEADLINE_MS,
  delegate,
  expireQuestion,
  key,
  person,
  recipient,
  runs,
  T0,
} from './run.fixture.ts';
import type { OpenQuestion, Run, WaitingRun } from './run.ts';
import type { RunCommand } from './run-command.ts';
import { transition } from './transition.ts';

const NO_RULES: AnswerPolicy = {
  to: [],
  notStarter: false,
  needs: null,
  remindMs: [],
  escalate: null,
  timeoutAnswerJson: null,
};
const [ann, ben, cat] = [person('ann'), person('ben'), person('cat')];
const eve = person('eve', 'viewer');
const root = person('root', 'admin');

function waiting(policy: Partial<AnswerPolicy>, { starter = null as Party | null, ...more } = {}): WaitingRun {
  const question: OpenQuestion = { ...runs.waiting.question, policy: { ...NO_RULES, ...policy }, ...more };
  return { ...runs.waiting, facts: { ...runs.waiting.facts, starter }, question };
}

function by(party: Party | null, value: unknown = { choice: 'yes' }, comment = '') {
  const answerJson = JSON.stringify(value);
  return { ...answer('q_1', answerJson), answerJson, by: party, channel: 'api', comment } as const;
}

/** Returns the last state, or the code of the first refusal. */
function told(run: Run, ...commands: readonly (RunCommand | readonly [number, RunCommand])[]): Run | RefusalCode {
  let now: Run = run;
  for (const one of commands) {
    const [atMs, command] = 'type' in one ? [T0 + 1, one] : one;
    const decision = transition(now, command, atMs);
    if (decision.kind === 'refused') return decision.code;
    if (decision.kind === 'changed') now = { ...decision.run, revision: now.revision + 1 };
  }
  return now;
}

function outcome(...args: Parameters<typeof told>): string {
  const end = told(...args);
  return typeof end === 'string' ? end : end.status;
}

function open(run: Run | RefusalCode): OpenQuestion {
  assert.ok(typeof run !== 'string' && run.status === 'waiting', JSON.stringify(run));
  return run.question;
}

const may = (run: Run, ...parties: (Party | null)[]) => parties.map((party) => outcome(run, by(party)) === 'queued');

describe('who may answer', () => {
  test('without rules every member, a key and an unnamed sender may, and a viewer may not', () => {
    const run = { ...runs.waiting };
    assert.deepEqual(may(run, ann, root, key, null, recipient('out'), eve), [true, true, true, true, true, false]);
    assert.equal(outcome(run, by(eve)), 'not_an_answerer');
  });

  test('rules about people exclude keys and senders without a name', () => {
    for (const policy of [{ to: ['member'] }, { notStarter: true }, { needs: { count: 1, on: [] } }]) {
      assert.deepEqual(may(waiting(policy), ann, key, null), [true, false, false], JSON.stringify(policy));
    }
    assert.deepEqual(may(waiting({ remindMs: [5] }), ann, key), [true, true]);
  });

  test('the link of a chat answers no question with rules about people, even if its endpoint is named like an address', () => {
    const chat = { ...by(recipient('ben')), channel: 'chat' } as const;
    assert.equal(outcome(waiting({ to: ['ben@example.com'] }), chat), 'not_an_answerer');
    assert.equal(outcome(waiting({ needs: { count: 2, on: [] } }), chat), 'not_an_answerer');
    assert.equal(outcome(runs.waiting, chat), 'queued');
  });

  test('an address names one person, by their verified address or by a link sent to it', () => {
    const run = waiting({ to: ['ben@example.com'] });
    assert.deepEqual(may(run, ben, recipient('ben'), ann, root), [true, true, false, false]);
    assert.deepEqual(may(run, { ...ann, email: '' }, { ...ben, email: '' }), [false, false]);
    assert.deepEqual(may(waiting({ to: ['eve@example.com'] }), eve), [true]);
  });

  test('a role names those who have it or a higher one', () => {
    assert.deepEqual(may(waiting({ to: ['admin'] }), root, ann, eve, recipient('ann')), [true, false, false, false]);
    assert.deepEqual(may(waiting({ to: ['member'] }), root, ann, eve), [true, true, false]);
    assert.deepEqual(may(waiting({ to: ['viewer'] }), root, ann, eve), [true, true, true]);
  });

  test('the starter may not answer if the rules say so, neither by their link nor under another id', () => {
    const run = waiting({ notStarter: true, to: ['ann@example.com', 'member'] }, { starter: ann });
    const again = { ...ann, personId: 'usr_other' };
    const link = { ...recipient('ann'), personId: 'usr_ann' };
    assert.deepEqual(may(run, ann, recipient('ann'), again, link, ben), [false, false, false, false, true]);
    // A key that starts a run is not a person.
    assert.deepEqual(may(waiting({ notStarter: true }), ann), [true]);
  });

  test('the people of an escalation may answer from then on', () => {
    const run = waiting({ to: ['ben@example.com'], escalate: { afterMs: 10, to: ['admin'] } });
    assert.deepEqual(may(run, ben, root), [true, false]);
    const escalated = told(run, [T0 + 10, expireQuestion('q_1')]) as Run;
    assert.deepEqual(may(escalated, ben, root, ann), [true, true, false]);
    const everyone = told(waiting({ escalate: { afterMs: 10, to: ['eve@example.com'] } }), [
      T0 + 10,
      expireQuestion('q_1'),
    ]);
    assert.deepEqual(may(everyone as Run, ann, key, eve), [true, true, true]);
  });
});

describe('a question that needs several people', () => {
  const two = waiting({ needs: { count: 2, on: ['choice'] } });

  test('is decided by equal answers of different people; other fields come from the deciding answer', () => {
    const first = told(two, by(ann, { choice: 'yes', note: 'a' }, 'fine'));
    assert.deepEqual(
      open(first).votes?.map(({ by: voter, comment }) => [voter.name, comment]),
      [['ann', 'fine']],
    );
    const end = told(first as Run, by(ben, { choice: 'yes', note: 'b' })) as Run;
    assert.deepEqual([end.status, end.answer?.answerJson], ['queued', '{"choice":"yes","note":"b"}']);
    const [receipt] = end.answers;
    assert.deepEqual([receipt?.by?.name, receipt?.votes?.map((vote) => vote.by.name)], ['ben', ['ann', 'ben']]);
  });

  test('waits while people disagree, and a person may change their mind', () => {
    const [yes, no] = [{ choice: 'yes' }, { choice: 'no' }];
    const split = told(two, by(ann, yes), by(ben, no), by(ann, yes));
    assert.equal(open(split).votes?.length, 2);
    assert.equal(outcome(two, by(ann, yes), by(ben, no), by(ben, yes)), 'queued');
    assert.equal(outcome(two, by(ann, yes), by(ann, no), by(ann, yes)), 'waiting');
  });

  test('compares whole answers if no fields are named, and counts an absent field as absent', () => {
    const whole = waiting({ needs: { count: 2, on: [] } });
    assert.equal(outcome(whole, by(ann, { a: 1, b: 2 }), by(ben, { b: 2, a: 1 })), 'queued');
    assert.equal(outcome(whole, by(ann, { a: 1 }), by(ben, { a: 1, b: 2 })), 'waiting');
    assert.equal(outcome(two, by(ann, {}), by(ben, { choice: null })), 'waiting');
  });

  test('counts a member and the recipient of their link as one, and an answer by a link cannot be replaced', () => {
    assert.equal(outcome(two, by(ann), by(recipient('ann'), { choice: 'yes', note: 'by link' })), 'waiting');
    assert.equal(outcome(two, by(recipient('ann')), by(ann, { choice: 'no' })), 'vote_final');
    assert.equal(outcome(two, by(recipient('ann')), by(ann)), 'waiting');
    assert.equal(outcome(two, by(recipient('ann')), by(recipient('ben'))), 'queued');
  });

  test('does not count two people who turn out to be one', () => {
    const idOnly = { ...ann, email: '' };
    const both = { ...ann };
    // The first two share nothing; the third is both of them.
    assert.equal(
      outcome(two, by(idOnly), by(recipient('out'), { choice: 'no' }), by(both, { choice: 'no' })),
      'queued',
    );
    const three = waiting({ needs: { count: 3, on: ['choice'] } });
    assert.equal(
      outcome(three, by(idOnly), by(recipient('ann')), by(both, { choice: 'yes', note: 'me' })),
      'vote_final',
    );
  });

  test('keeps a bounded number of votes', () => {
    const many = waiting({ needs: { count: 200, on: [] } });
    const people = Array.from({ length: 101 }, (_, n) => by(person(`p${n}`)));
    assert.equal(outcome(many, ...people), 'too_many_votes');
    const large = { choice: 'x'.repeat(60_000) };
    assert.equal(outcome(many, ...people.slice(0, 12).map(({ by: voter }) => by(voter, large))), 'too_many_votes');
  });
});

describe('delegation', () => {
  const run = waiting({ to: ['ann@example.com'], notStarter: true }, { starter: cat });

  test('lets another person answer, who may delegate again; those who delegated may still answer', () => {
    const given = told(run, delegate('q_1', eve, ann), delegate('q_1', ben, eve));
    assert.equal(open(given).assignee, 'usr_ben');
    assert.deepEqual(may(given as Run, ann, eve, ben, root), [true, true, true, false]);
  });

  test('is allowed to those who may answer, goes neither to the starter nor back, and a repeat changes nothing', () => {
    assert.equal(outcome(run, delegate('q_1', ben, root)), 'not_an_answerer');
    assert.equal(outcome({ ...runs.waiting }, delegate('q_1', ben, key)), 'not_an_answerer');
    assert.equal(outcome(run, delegate('q_1', cat, ann)), 'delegate_is_starter');
    assert.equal(outcome(run, delegate('q_1', { ...cat, personId: 'usr_other' }, ann)), 'delegate_is_starter');
    assert.equal(outcome(run, delegate('q_1', ben, ann), delegate('q_1', ann, ben)), 'delegate_has_delegated');
    const [b, c] = [person('b'), person('c')];
    const circle = [delegate('q_1', b, ann), delegate('q_1', c, b), delegate('q_1', ann, c)];
    assert.equal(outcome(run, ...circle), 'delegate_has_delegated');
    const twice = told(run, delegate('q_1', ben, ann), delegate('q_1', ben, ann));
    assert.equal(open(twice).delegations?.length, 1);
  });

  test('is announced to the delegate once, like an assignment to another person', () => {
    const announced = (start: Run, command: RunCommand) => {
      const decision = transition(start, command, T0 + 9);
      if (decision.kind !== 'changed') return decision.kind;
      return decision.effects.map((effect) =>
        effect.type === 'emit'
          ? [effect.event, effect.assigned?.to.name, effect.assigned?.by.name, effect.atMs]
          : effect,
      );
    };
    const given = [['question.assigned', 'ben', 'ann', T0 + 9]];
    assert.deepEqual(announced(run, delegate('q_1', ben, ann)), given);
    assert.equal(announced(told(run, delegate('q_1', ben, ann)) as Run, delegate('q_1', ben, ann)), 'unchanged');
    const open = { ...runs.waiting };
    assert.deepEqual(announced(open, assign('q_1', ben, ann)), given);
    assert.deepEqual(announced(open, assign('q_1', ann, ann)), [], 'they took it themselves');
    assert.deepEqual(announced(open, assign('q_1', ann, recipient('ann'))), [], 'the recipient is the member');
    assert.deepEqual(announced(told(open, assign('q_1', ben, ann)) as Run, assign('q_1', null, ann)), []);
  });

  test('is bounded', () => {
    const to = (n: number) => delegate('q_1', person(`p${n}`), ann);
    assert.equal(outcome(run, ...Array.from({ length: 20 }, (_, n) => to(n))), 'waiting');
    assert.equal(outcome(run, ...Array.from({ length: 21 }, (_, n) => to(n))), 'too_many_delegations');
  });
});

describe('the times of a question', () => {
  const due = expireQuestion('q_1');
  const effects = (run: Run, atMs: number) => {
    const decision = transition(run, due, atMs);
    return decision.kind === 'changed' ? decision.effects.map((e) => (e.type === 'emit' ? e.event : e.type)) : decision;
  };

  test('people are reminded once at each time, and once for all times missed in an outage', () => {
    const run = waiting({ remindMs: [100, 200, 300] });
    assert.deepEqual(effects(run, T0 + 99), { kind: 'refused', code: 'not_due' });
    assert.deepEqual(effects(run, T0 + 100), ['question.reminded']);
    const once = told(run, [T0 + 100, due]) as Run;
    assert.deepEqual(effects(once, T0 + 199), { kind: 'refused', code: 'not_due' });
    const late = told(run, [T0 + 250, due]) as Run;
    assert.equal(open(late).reminders, 2);
    assert.deepEqual(effects(late, T0 + 299), { kind: 'refused', code: 'not_due' });
    assert.deepEqual(effects(told(late, [T0 + 300, due]) as Run, T0 + DEADLINE_MS - 1), {
      kind: 'refused',
      code: 'not_due',
    });
  });

  test('an escalation emits its event once, in place of reminders that are due with it', () => {
    const run = waiting({ remindMs: [100], escalate: { afterMs: 200, to: ['admin'] } });
    assert.deepEqual(effects(run, T0 + 200), ['question.escalated']);
    const after = told(run, [T0 + 200, due]) as Run;
    assert.deepEqual(effects(after, T0 + 300), { kind: 'refused', code: 'not_due' });
  });

  test('at the deadline the answer of the source counts, without a person who gave it', () => {
    const run = waiting({ timeoutAnswerJson: '{"choice":"no"}', needs: { count: 2, on: [] }, remindMs: [100] });
    const end = told(run, by(ann), [T0 + DEADLINE_MS, due]) as Run;
    assert.deepEqual([end.status, end.answer?.answerJson], ['queued', '{"choice":"no"}']);
    const [receipt] = end.answers;
    assert.deepEqual([receipt?.by, receipt?.channel, receipt?.votes], [null, 'timeout', undefined]);
    assert.equal(outcome(end, by(ben)), 'run_not_waiting');
  });

  test('a time-out answer that a check refused is not given when the question is asked again', () => {
    const end = told(waiting({ timeoutAnswerJson: '{"choice":"no"}' }), [T0 + DEADLINE_MS, due], claim('t2')) as Run;
    const policy = { ...NO_RULES, to: ['member'], timeoutAnswerJson: '{"choice":"no"}' };
    const again = (step: string) => {
      const command = { ...ask('t2', 1, 'q_2', DEADLINE_MS), step, policy } as RunCommand;
      return open(told(end, [T0 + DEADLINE_MS + 1, command])).policy;
    };
    assert.deepEqual(again(runs.waiting.question.step), { ...policy, timeoutAnswerJson: null });
    assert.deepEqual(again('other'), policy);
  });

  test('the end of the run follows the event that asked, also after its question has changed', () => {
    const run = told(waiting({ remindMs: [100] }, { starter: null }), [T0 + 100, due]) as Run;
    const decision = transition(run, { type: 'cancel' }, T0 + 200);
    assert.ok(decision.kind === 'changed');
    const ended = decision.effects.find((e) => e.type === 'emit' && e.event === 'cancelled');
    assert.deepEqual(ended?.type === 'emit' && ended.follows, { seq: runs.waiting.revision, atMs: T0 });
  });
});

test('an answer is a repeat for the people who gave it and for programs, and too late for other people', () => {
  const both = { needs: { count: 2, on: [] } };
  const cases: readonly [Run | RefusalCode, readonly Party[], readonly Party[]][] = [
    [told(waiting({}), by(ann)), [ann, key, recipient('ann')], [ben, eve, recipient('payments')]],
    [told(waiting({ notStarter: true }, { starter: cat }), by(ann)), [ann], [cat]],
    [told(waiting(both), by(ann), by(ben)), [ann, ben], [cat]],
    [told(waiting({}), by(key)), [key, { ...key, keyId: 'key_b' }], [ann]],
  ];
  for (const [run, same, others] of cases) {
    assert.ok(typeof run !== 'string');
    for (const one of same) assert.equal(transition(run, by(one), T0 + 2).kind, 'unchanged', JSON.stringify(one));
    for (const one of others) assert.equal(told(run, by(one)), 'run_not_waiting', JSON.stringify(one));
  }
});

test('a question that closes says whether people were asked, also in a run that the application answers', () => {
  const cases: readonly [WaitingRun, boolean][] = [
    [runs.waiting, false],
    [waiting({ remindMs: [1_000], escalate: { afterMs: 2_000, to: ['admin'] } }), false],
    [waiting({ to: ['ann@example.com'] }), true],
    [waiting({ notStarter: true }), true],
    [{ ...runs.waiting, question: { ...runs.waiting.question, escalatedAtMs: T0 } }, true],
    [told(waiting({}), assign('q_1', ann, ben)) as WaitingRun, true],
    [told(waiting({}), delegate('q_1', ann, ben)) as WaitingRun, true],
  ];
  for (const [run, asked] of cases) {
    const decision = transition(run, { type: 'cancel' }, T0 + 1);
    assert.ok(decision.kind === 'changed');
    const [closed] = decision.effects.flatMap((effect) => (effect.type === 'emit' && effect.closed) || []);
    assert.equal(closed?.askedPeople, asked);
  }
});
