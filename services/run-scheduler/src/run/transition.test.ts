// The ledger of the rules: every state with every command. An unplanned pair shows here as a changed line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision, Effect, RefusalCode } from './decision.ts';
import {
  answer,
  ask,
  assign,
  cancel,
  claim,
  DEADLINE_MS,
  delegate,
  expireQuestion,
  fail,
  giveBack,
  heartbeat,
  loseLease,
  person,
  recordStep,
  returnGrant,
  runs,
  SLEEP_MS,
  sleep,
  start,
  succeed,
  T0,
  wake,
} from './run.fixture.ts';
import type { Run, RunStatus } from './run.ts';
import type { RunCommand } from './run-command.ts';
import { transition } from './transition.ts';

interface Row {
  readonly name: string;
  readonly command: RunCommand;
  readonly atMs?: number;
}

/** Sequence numbers of a report: attempt t1 has reported twice, so 3 is next, 2 a repeat, and 4 skips one. */
function reports(name: string, report: (token: string, seq: number) => RunCommand): Row[] {
  return [
    { name: `${name}, next`, command: report('t1', 3) },
    { name: `${name}, repeat`, command: report('t1', 2) },
    { name: `${name}, one left out`, command: report('t1', 4) },
    { name: `${name}, other token`, command: report('other', 3) },
  ];
}

/** By type, so that a command without rows does not compile. */
const rowsOf: Record<RunCommand['type'], Row[]> = {
  start: [{ name: 'start', command: start }],
  claim: [{ name: 'claim', command: claim('t2') }],
  record_step: reports('record_step', recordStep),
  ask: reports('ask', ask),
  sleep: reports('sleep', sleep),
  wake: [
    { name: 'wake, due', command: wake, atMs: T0 + SLEEP_MS },
    { name: 'wake, early', command: wake, atMs: T0 + SLEEP_MS - 1 },
  ],
  finish: [...reports('finish', succeed), { name: 'finish as failed, next', command: fail('t1', 3) }],
  give_back: reports('give_back', giveBack),
  return_grant: [
    { name: 'return_grant', command: returnGrant('t1') },
    { name: 'return_grant, other token', command: returnGrant('other') },
  ],
  heartbeat: [
    { name: 'heartbeat', command: heartbeat('t1') },
    { name: 'heartbeat, other token', command: heartbeat('other') },
  ],
  expire_lease: [
    { name: 'expire_lease', command: loseLease('t1') },
    { name: 'expire_lease, other token', command: loseLease('other') },
  ],
  answer: [
    { name: 'answer q1 (open)', command: answer('q_1', 'd1') },
    { name: 'answer q1, value of q0', command: answer('q_1', 'd0') },
    { name: 'answer q0 (closed), same', command: answer('q_0', 'd0') },
    { name: 'answer q0 (closed), other', command: answer('q_0', 'd1') },
    { name: 'answer unknown question', command: answer('q_9', 'd0') },
    { name: 'answer any, value of q0', command: answer(null, 'd0') },
    { name: 'answer any, other value', command: answer(null, 'd1') },
  ],
  assign_question: [
    { name: 'assign q1 to a member', command: assign('q_1', person('ben')) },
    { name: 'assign q1 to no one', command: assign('q_1', null) },
    { name: 'assign q1 to a viewer', command: assign('q_1', person('eve', 'viewer')) },
    { name: 'assign q1 as a viewer', command: assign('q_1', person('ben'), person('eve', 'viewer')) },
    { name: 'assign q0 (closed)', command: assign('q_0', person('ben')) },
  ],
  delegate_question: [
    { name: 'delegate q1', command: delegate('q_1', person('eve', 'viewer')) },
    { name: 'delegate q1 to oneself', command: delegate('q_1', person('ann')) },
    { name: 'delegate q1 as a viewer', command: delegate('q_1', person('ben'), person('eve', 'viewer')) },
    { name: 'delegate q0 (closed)', command: delegate('q_0', person('ben')) },
  ],
  expire_question: [
    { name: 'expire_question, due', command: expireQuestion('q_1'), atMs: T0 + DEADLINE_MS },
    { name: 'expire_question, early', command: expireQuestion('q_1'), atMs: T0 + DEADLINE_MS - 1 },
    { name: 'expire_question, other', command: expireQuestion('q_0'), atMs: T0 + DEADLINE_MS },
  ],
  cancel: [{ name: 'cancel', command: cancel }],
};
const rows = Object.values(rowsOf).flat();

const refusal: Record<RefusalCode, string> = {
  not_found: '!missing',
  exists: '!exists',
  not_queued: '!not queued',
  other_worker: '!other',
  not_due: '!not due',
  stale_attempt: '!stale',
  out_of_order: '!order',
  too_much_recorded: '!too much',
  not_sealed: '!not sealed',
  run_not_waiting: '!not waiting',
  run_finished: '!finished',
  question_changed: '!question',
  not_an_answerer: '!may not',
  vote_final: '!final',
  too_many_votes: '!votes',
  assignee_may_not_answer: '!assignee',
  delegate_is_starter: '!starter',
  delegate_has_delegated: '!loop',
  too_many_delegations: '!delegations',
};

const columns = { none: null, ...runs };

function nameOf(run: Run): RunStatus | 'cancelling' {
  return run.status === 'running' && run.cancelRequested ? 'cancelling' : run.status;
}

function outcomeOf(decision: Decision): string {
  if (decision.kind === 'changed') return nameOf(decision.run);
  return decision.kind === 'unchanged' ? '=' : refusal[decision.code];
}

function line(name: string, cells: readonly string[]): string {
  return [name.padEnd(27), ...cells.map((cell) => cell.padEnd(13))].join('').trimEnd();
}

// A name is the state that follows, = means nothing changes, and ! is a refusal.
const ledger = `
                           none         fresh        queued       sleeping     running      cancelling   waiting      ending       cleaning     succeeded    failed       cancelled
start                      queued       !exists      !exists      !exists      !exists      !exists      !exists      !exists      !exists      !exists      !exists      !exists
claim                      !missing     running      running      !not queued  !not queued  !not queued  !not queued  running      !not queued  !not queued  !not queued  !not queued
record_step, next          !missing     !stale       !stale       !stale       running      cancelling   !stale       !stale       running      !stale       !stale       !stale
record_step, repeat        !missing     !stale       =            =            =            =            =            =            =            =            =            =
record_step, one left out  !missing     !stale       !stale       !stale       !order       !order       !stale       !stale       !order       !stale       !stale       !stale
record_step, other token   !missing     !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale
ask, next                  !missing     !stale       !stale       !stale       waiting      cancelled    !stale       !stale       waiting      !stale       !stale       !stale
ask, repeat                !missing     !stale       =            =            =            =            =            =            =            =            =            =
ask, one left out          !missing     !stale       !stale       !stale       !order       !order       !stale       !stale       !order       !stale       !stale       !stale
ask, other token           !missing     !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale
sleep, next                !missing     !stale       !stale       !stale       sleeping     cancelled    !stale       !stale       sleeping     !stale       !stale       !stale
sleep, repeat              !missing     !stale       =            =            =            =            =            =            =            =            =            =
sleep, one left out        !missing     !stale       !stale       !stale       !order       !order       !stale       !stale       !order       !stale       !stale       !stale
sleep, other token         !missing     !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale
wake, due                  !not due     !not due     !not due     queued       !not due     !not due     !not due     failed       !not due     !not due     !not due     !not due
wake, early                !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due
finish, next               !missing     !stale       !stale       !stale       succeeded    cancelled    !stale       !stale       failed       !stale       !stale       !stale
finish, repeat             !missing     !stale       =            =            =            =            =            =            =            =            =            =
finish, one left out       !missing     !stale       !stale       !stale       !order       !order       !stale       !stale       !order       !stale       !stale       !stale
finish, other token        !missing     !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale
finish as failed, next     !missing     !stale       !stale       !stale       failed       cancelled    !stale       !stale       failed       !stale       !stale       !stale
give_back, next            !missing     !stale       !stale       !stale       queued       cancelled    !stale       !stale       queued       !stale       !stale       !stale
give_back, repeat          !missing     !stale       =            =            =            =            =            =            =            =            =            =
give_back, one left out    !missing     !stale       !stale       !stale       !order       !order       !stale       !stale       !order       !stale       !stale       !stale
give_back, other token     !missing     !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale
return_grant               !stale       !stale       !stale       !stale       !not due     !not due     !stale       !stale       !not due     !stale       !stale       !stale
return_grant, other token  !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale
heartbeat                  !stale       !stale       !stale       !stale       =            cancelled    !stale       !stale       =            !stale       !stale       !stale
heartbeat, other token     !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale
expire_lease               !stale       !stale       !stale       !stale       queued       cancelled    !stale       !stale       failed       !stale       !stale       !stale
expire_lease, other token  !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale       !stale
answer q1 (open)           !missing     !not waiting !not waiting !not waiting !not waiting !not waiting queued       !not waiting !not waiting !not waiting !not waiting !not waiting
answer q1, value of q0     !missing     !not waiting !not waiting !not waiting !not waiting !not waiting queued       !not waiting !not waiting !not waiting !not waiting !not waiting
answer q0 (closed), same   !missing     !not waiting =            =            =            =            =            =            =            =            =            =
answer q0 (closed), other  !missing     !not waiting !not waiting !not waiting !not waiting !not waiting !question    !not waiting !not waiting !not waiting !not waiting !not waiting
answer unknown question    !missing     !not waiting !not waiting !not waiting !not waiting !not waiting !question    !not waiting !not waiting !not waiting !not waiting !not waiting
answer any, value of q0    !missing     !not waiting =            =            =            =            queued       =            =            =            =            =
answer any, other value    !missing     !not waiting !not waiting !not waiting !not waiting !not waiting queued       !not waiting !not waiting !not waiting !not waiting !not waiting
assign q1 to a member      !missing     !not waiting !not waiting !not waiting !not waiting !not waiting waiting      !not waiting !not waiting !not waiting !not waiting !not waiting
assign q1 to no one        !missing     !not waiting !not waiting !not waiting !not waiting !not waiting =            !not waiting !not waiting !not waiting !not waiting !not waiting
assign q1 to a viewer      !missing     !not waiting !not waiting !not waiting !not waiting !not waiting !assignee    !not waiting !not waiting !not waiting !not waiting !not waiting
assign q1 as a viewer      !missing     !not waiting !not waiting !not waiting !not waiting !not waiting !may not     !not waiting !not waiting !not waiting !not waiting !not waiting
assign q0 (closed)         !missing     !not waiting !not waiting !not waiting !not waiting !not waiting !question    !not waiting !not waiting !not waiting !not waiting !not waiting
delegate q1                !missing     !not waiting !not waiting !not waiting !not waiting !not waiting waiting      !not waiting !not waiting !not waiting !not waiting !not waiting
delegate q1 to oneself     !missing     !not waiting !not waiting !not waiting !not waiting !not waiting !loop        !not waiting !not waiting !not waiting !not waiting !not waiting
delegate q1 as a viewer    !missing     !not waiting !not waiting !not waiting !not waiting !not waiting !may not     !not waiting !not waiting !not waiting !not waiting !not waiting
delegate q0 (closed)       !missing     !not waiting !not waiting !not waiting !not waiting !not waiting !question    !not waiting !not waiting !not waiting !not waiting !not waiting
expire_question, due       !not due     !not due     !not due     !not due     !not due     !not due     failed       !not due     !not due     !not due     !not due     !not due
expire_question, early     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due
expire_question, other     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due     !not due
cancel                     !missing     cancelled    cancelled    cancelled    cancelling   =            cancelled    cancelled    cancelling   !finished    !finished    =
`;

test('every state handles every command as the ledger says', () => {
  const lines = rows.map((row) => {
    const outcomes = Object.values(columns).map((run) => transition(run, row.command, row.atMs ?? T0 + 1));
    return line(row.name, outcomes.map(outcomeOf));
  });
  assert.equal(`\n${[line('', Object.keys(columns)), ...lines].join('\n')}\n`, ledger);
});

test('the first report of a grant that counted as undelivered is refused, and counts the attempt', () => {
  const returned: Run = { ...runs.queued, lastSeq: 0 };
  for (const build of [recordStep, ask, sleep, succeed, fail, giveBack]) {
    for (const [attempts, status] of [
      [1, 'queued'],
      [3, 'failed'],
    ] as const) {
      const decision = transition({ ...returned, attempts }, build('t1', 1), T0 + 1);
      assert.ok(decision.kind === 'changed');
      assert.deepEqual([decision.refusal, decision.run.status], ['stale_attempt', status]);
      if (decision.run.status !== 'queued') continue;
      const again = transition(decision.run, claim('t2'), T0 + 2);
      assert.ok(again.kind === 'changed');
      assert.equal(again.run.attempts, attempts + 1);
      assert.equal(transition(decision.run, build('t1', 2), T0 + 2).kind, 'refused');
    }
    assert.equal(transition(returned, build('other', 1), T0 + 1).kind, 'refused');
  }
});

test('the first report of a grant that was returned before another one followed is refused, and counts the attempt', () => {
  const later = { token: 't2', returnedToken: 't1' } as const;
  const states: [Run, string][] = [
    [{ ...runs.running, ...later }, '2 running, 3 running, failed'],
    [{ ...runs.cancelling, ...later }, '2 running, 3 running, !stale'],
    [{ ...runs.waiting, ...later }, '2 waiting, 3 waiting, !stale'],
    [{ ...runs.sleeping, ...later }, '2 sleeping, 3 sleeping, !stale'],
    [{ ...runs.queued, ...later }, '2 queued, 3 queued, !stale'],
    [{ ...runs.queued, ...later, attemptOpen: false }, '2 queued, failed, failed'],
    [{ ...runs.succeeded, ...later }, '!stale, !stale, !stale'],
    [{ ...runs.failed, ...later }, '!stale, !stale, !stale'],
    [{ ...runs.cancelled, ...later }, '!stale, !stale, !stale'],
  ];
  for (const [run, expected] of states) {
    for (const build of [recordStep, ask, sleep, succeed, fail, giveBack]) {
      const outcomes = [1, 2, 3].map((attempts) => {
        const decision = transition({ ...run, attempts }, build('t1', 1), T0 + 1);
        if (decision.kind !== 'changed') return outcomeOf(decision);
        assert.equal(decision.refusal, 'stale_attempt');
        if (decision.run.status === 'failed') return 'failed';
        assert.equal(transition(decision.run, build('t1', 1), T0 + 2).kind, 'refused');
        return `${decision.run.attempts} ${decision.run.status}`;
      });
      assert.equal(outcomes.join(', '), expected);
      assert.equal(transition(run, build('t1', 2), T0 + 1).kind, 'refused');
    }
  }
});

test('a claim keeps only the token of the previous grant that reached no worker', () => {
  const claimed = (run: Run) => {
    const decision = transition(run, claim('t2'), T0 + 1);
    assert.ok(decision.kind === 'changed');
    return decision.run.returnedToken;
  };
  assert.equal(claimed({ ...runs.queued, lastSeq: 0 }), 't1');
  assert.equal(claimed(runs.queued), null);
  assert.equal(claimed({ ...runs.queued, lastSeq: 0, attemptOpen: false }), null);
  assert.equal(claimed(runs.fresh), null);
});

function effectName(effect: Effect): string {
  return effect.type === 'emit' ? `emit ${effect.event}` : effect.type;
}

const followUps = `
none + start                            nothing
fresh + claim                           grant
queued + claim                          grant
ending + claim                          grant
running + record_step, next             nothing
cancelling + record_step, next          nothing
cleaning + record_step, next            nothing
running + ask, next                     lease_ended, emit needs_input
cancelling + ask, next                  lease_ended, emit cancelled
cleaning + ask, next                    lease_ended, emit needs_input
running + sleep, next                   lease_ended
cancelling + sleep, next                lease_ended, emit cancelled
cleaning + sleep, next                  lease_ended
sleeping + wake, due                    nothing
ending + wake, due                      emit failed
running + finish, next                  lease_ended, emit succeeded
cancelling + finish, next               lease_ended, emit cancelled
cleaning + finish, next                 lease_ended, emit failed
running + finish as failed, next        lease_ended, emit failed
cancelling + finish as failed, next     lease_ended, emit cancelled
cleaning + finish as failed, next       lease_ended, emit failed
running + give_back, next               lease_ended
cancelling + give_back, next            lease_ended, emit cancelled
cleaning + give_back, next              lease_ended
cancelling + heartbeat                  lease_ended, emit cancelled
running + expire_lease                  lease_ended
cancelling + expire_lease               lease_ended, emit cancelled
cleaning + expire_lease                 lease_ended, emit failed
waiting + answer q1 (open)              emit question.closed
waiting + answer q1, value of q0        emit question.closed
waiting + answer any, value of q0       emit question.closed
waiting + answer any, other value       emit question.closed
waiting + assign q1 to a member         emit question.assigned
waiting + delegate q1                   emit question.assigned
waiting + expire_question, due          emit question.closed, emit failed
fresh + cancel                          emit cancelled
queued + cancel                         emit cancelled
sleeping + cancel                       emit cancelled
running + cancel                        notify_cancel
waiting + cancel                        emit question.closed, emit cancelled
ending + cancel                         emit cancelled
cleaning + cancel                       notify_cancel
`;

test('every change emits the effects in the second ledger', () => {
  const lines: string[] = [];
  for (const { name, command, atMs } of rows) {
    for (const [state, run] of Object.entries(columns)) {
      const decision = transition(run, command, atMs ?? T0 + 1);
      if (decision.kind !== 'changed') continue;
      const effects = decision.effects.map(effectName).join(', ') || 'nothing';
      lines.push(`${state} + ${name}`.padEnd(40) + effects);
    }
  }
  assert.equal(`\n${lines.join('\n')}\n`, followUps);
});
