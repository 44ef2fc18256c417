import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import type { OrgId } from '@methods/base/ids';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import { until } from '@methods/test/harness/until';
import { runEvent } from '../bus/run-event.ts';
import { type Effect, isOfQuestion, type RunEventName } from '../run/decision.ts';
import {
  answer,
  ask,
  cancel,
  claim,
  expireQuestion,
  facts,
  recordStep,
  returnGrant,
  runs,
  start,
  succeed,
  wake,
} from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import type { OutboxEvent, RunChange } from '../store/run-store.ts';
import type { ChangeOutcome } from './committer.ts';
import { type ActorHost, RunActor, type TellOutcome } from './run-actor.ts';

type Change = Omit<RunChange, 'epoch'>;

/** A node in memory: its row, and commits that a test completes, loses or refuses. */
class Host implements ActorHost {
  row: Run | null = null;
  readonly changes: Change[] = [];
  readonly committedEffects: Effect[][] = [];
  readonly settledWith: (Run | null)[] = [];
  loads = 0;
  /** The loads that fail, counted from 1. */
  failingLoads: readonly number[] = [];
  /** Called between the tries of a load. */
  onPause: () => void = () => {};
  /** Outcomes of the next commits, in order; later ones succeed. */
  fates: (ChangeOutcome | 'done_unheard' | Promise<ChangeOutcome>)[] = [];

  async load(): Promise<Run | null> {
    if (this.failingLoads.includes(++this.loads)) throw new Error('no database');
    return this.row;
  }

  async submit(change: Change): Promise<ChangeOutcome> {
    this.changes.push(change);
    const fate = (await this.fates.shift()) ?? 'done';
    if (fate === 'done' || fate === 'done_unheard') this.row = change.after;
    return fate === 'done_unheard' ? 'unknown' : fate;
  }

  async pause(): Promise<void> {
    this.onPause();
  }

  nowMs(): number {
    return 2_000_000;
  }

  isHeard(run: Run, event: RunEventName): boolean {
    return run.facts.webhookUrl !== null || isOfQuestion(event);
  }

  eventFor(run: Run, effect: Effect & { type: 'emit' }): OutboxEvent {
    return runEvent(run, effect);
  }

  committed(_before: Run | null, _after: Run, effects: readonly Effect[]): void {
    this.committedEffects.push([...effects]);
  }

  settled(_actor: RunActor, run: Run | null): void {
    this.settledWith.push(run);
  }
}

describe("a run's actor", () => {
  let host: Host;
  let actor: RunActor;

  beforeEach(() => {
    host = new Host();
    actor = new RunActor(facts.runId, host);
  });

  function tell(command: RunCommand, orgId: OrgId | null = facts.orgId): Promise<TellOutcome> {
    return new Promise((reply) => actor.tell({ orgId, command, reply }));
  }

  function tellAll(...commands: RunCommand[]): Promise<TellOutcome[]> {
    return Promise.all(commands.map((command) => tell(command)));
  }

  function kinds(outcomes: readonly TellOutcome[]): string[] {
    return outcomes.map((o) => (o.kind === 'accepted' ? `${o.kind} ${o.run.status}` : `${o.kind} ${o.code}`));
  }

  test('a start and its claim of one turn share one commit', async () => {
    const outcomes = await tellAll(start, claim('t1'));
    assert.deepEqual(kinds(outcomes), ['accepted running', 'accepted running']);
    assert.equal(host.changes.length, 1);
    assert.equal(host.row?.revision, 1);
    assert.deepEqual(host.committedEffects, [[{ type: 'grant', token: 't1', workerSession: 'worker.1' }]]);
  });

  test('the last step and the finish share one commit, which contains the step', async () => {
    host.row = runs.running;
    await tellAll(recordStep('t1', 3, 'last'), succeed('t1', 4));
    assert.deepEqual(
      host.changes.map((change) => [change.after.status, change.after.revision, change.steps.length]),
      [['succeeded', 8, 1]],
    );
  });

  test('a returned grant and the next claim are two commits: a reader that pauses such runs sees both', async () => {
    host.row = { ...runs.running, lastSeq: 0 };
    const outcomes = await tellAll(returnGrant('t1'), claim('t2'), recordStep('t2', 1));
    assert.deepEqual(kinds(outcomes), ['accepted queued', 'accepted running', 'accepted running']);
    assert.deepEqual(
      host.changes.map(({ after }) => [after.status, after.token]),
      [
        ['queued', 't1'],
        ['running', 't2'],
      ],
    );
  });

  test('an answer and the claim that follows it share one commit, with the end of the question', async () => {
    host.row = runs.waiting;
    const outcomes = await tellAll(answer('q_1', 'd1'), claim('t2'));
    assert.deepEqual(kinds(outcomes), ['accepted running', 'accepted running']);
    assert.deepEqual(
      host.changes.map(({ events }) => events.map(({ outboxId }) => outboxId)),
      [[`${facts.runId}.8.closed`]],
    );
  });

  test('a commit has the events of one command: changes after an event are in the next commit, in order', async () => {
    host.row = runs.waiting;
    const expire = { ...expireQuestion('q_1') };
    const outcomes = await tellAll(expire, cancel);
    assert.deepEqual(kinds(outcomes), ['accepted failed', 'refused run_finished']);
    const ids = host.changes[0]?.events.map(({ outboxId }) => outboxId);
    assert.deepEqual(ids, [`${facts.runId}.8.closed`, `${facts.runId}.8`]);
  });

  test('an end event that no one takes is not kept and does not split a commit; its questions are for people', async () => {
    const silent = { ...facts, webhookUrl: null };
    host.row = { ...runs.waiting, facts: silent };
    await tellAll(expireQuestion('q_1'), cancel);
    host.row = { ...runs.running, facts: silent };
    actor = new RunActor(facts.runId, host);
    await tellAll(ask('t1', 3));
    const events = host.changes.map(({ events }) => events.map(({ body }) => fromBinary(RunEventSchema, body)));
    assert.deepEqual(
      events.map((one) => one.map(({ event, closed }) => [event, closed?.questionId, closed?.reason].join(' ').trim())),
      [['question.closed q_1 expired'], ['needs_input']],
    );
    assert.ok(host.committedEffects.flat().every((e) => e.type !== 'emit' || e.event !== 'failed'));
  });

  test("a wake waits for the database's clock, even if its commit also has a claim", async () => {
    host.row = runs.sleeping;
    await tellAll(wake, claim('t2'));
    assert.deepEqual(
      host.changes.map(({ after, dueMs }) => [after.status, dueMs]),
      [['running', runs.sleeping.wakeAtMs]],
    );
  });

  test('sends no reply before the commit', async () => {
    let commit: (outcome: ChangeOutcome) => void = () => {};
    host.fates = [
      new Promise((resolve) => {
        commit = resolve;
      }),
    ];
    const replies: TellOutcome[] = [];
    const told = tell(start).then((outcome) => replies.push(outcome));
    await until('the change is submitted', () => host.changes.length === 1);
    assert.deepEqual([replies, host.committedEffects], [[], []]);
    commit('done');
    await told;
    assert.equal(host.committedEffects.length, 1);
  });

  test('answers a command that changes nothing without a commit', async () => {
    host.row = runs.cancelled;
    assert.deepEqual(kinds(await tellAll(cancel, answer('q_1', 'x'))), [
      'accepted cancelled',
      'refused run_not_waiting',
    ]);
    assert.equal(host.changes.length, 0);
  });

  test('another organization gets the run as missing, and none of its content', async () => {
    host.row = runs.running;
    assert.deepEqual(await tell(cancel, 'org_b'), { kind: 'refused', code: 'not_found', run: null });
    assert.equal(host.row, runs.running);
  });

  test('a row that has changed is loaded, and everything is decided again', async () => {
    host.row = runs.running;
    await tell(recordStep('t1', 2));
    host.row = { ...runs.running, revision: 9, lastSeq: 3 };
    host.fates = ['moved_on'];
    const outcome = await tell(recordStep('t1', 3));
    assert.deepEqual([outcome.kind, outcome.kind === 'accepted' && outcome.changed], ['accepted', false]);
    assert.deepEqual([host.loads, host.row.revision], [2, 9]);
  });

  test('a commit without a reply that did not happen is made again', async () => {
    host.row = runs.running;
    host.fates = ['unknown'];
    assert.deepEqual(kinds([await tell(succeed('t1', 3))]), ['accepted succeeded']);
    assert.equal(host.changes.length, 2);
  });

  for (const [name, before, command, effect] of [
    ['claim', runs.queued, claim('t2'), 'grant'],
    ['finish', runs.running, succeed('t1', 3), 'lease_ended'],
    ['cancel', runs.running, cancel, 'notify_cancel'],
  ] as const) {
    test(`a ${name} whose commit got no reply but happened is reported once, with all its effects`, async () => {
      host.row = before;
      host.fates = ['done_unheard'];
      const outcome = await tell(command);
      assert.deepEqual([outcome.kind, outcome.kind === 'accepted' && outcome.changed], ['accepted', true]);
      assert.equal(host.changes.length, 1);
      assert.equal(host.committedEffects.length, 1);
      assert.equal(host.committedEffects[0]?.[0]?.type, effect);
    });
  }

  test('a start whose commit got no reply but happened is reported once', async () => {
    host.fates = ['done_unheard'];
    assert.deepEqual(kinds(await tellAll(start, claim('t1'))), ['accepted running', 'accepted running']);
    assert.deepEqual([host.changes.length, host.committedEffects.length], [1, 1]);
  });

  test('a row that cannot be read after a commit without a reply is read until it can be', async () => {
    host.row = runs.queued;
    host.fates = ['done_unheard'];
    host.failingLoads = [2, 3];
    assert.deepEqual(kinds([await tell(claim('t2'))]), ['accepted running']);
    assert.deepEqual([host.changes.length, host.committedEffects.length, host.loads], [1, 1, 4]);
  });

  test('a row that cannot be read after a commit without a reply is left to the next owner of its shard', async () => {
    host.row = runs.queued;
    host.fates = ['done_unheard'];
    host.failingLoads = [2, 3, 4];
    host.onPause = () => actor.drop();
    assert.deepEqual(kinds([await tell(claim('t2'))]), ['failed unavailable']);
    assert.deepEqual([host.loads, host.committedEffects], [2, []]);
  });

  test('a row that cannot be read at first fails its commands, and the next command reads it', async () => {
    host.row = runs.queued;
    host.failingLoads = [1];
    assert.deepEqual(kinds([await tell(claim('t2')), await tell(claim('t3'))]), [
      'failed unavailable',
      'accepted running',
    ]);
  });

  test('a time that never comes ends in "unavailable" and delays no other reply', async () => {
    host.row = runs.waiting;
    host.fates = Array.from({ length: 5 }, () => 'moved_on' as const);
    const [expired, answered] = await tellAll(expireQuestion('q_1'), answer('q_1', 'd'));
    assert.deepEqual(kinds([expired as TellOutcome, answered as TellOutcome]), [
      'failed unavailable',
      'accepted queued',
    ]);
    assert.ok((host.changes[0]?.dueMs ?? 0) > 0);
    assert.equal(host.changes.at(-1)?.dueMs, 0);
  });

  for (const [outcome, code] of [
    ['lost_shard', 'wrong_shard'],
    ['key_taken', 'key_taken'],
    ['invalid', 'invalid_request'],
    ['unavailable', 'unavailable'],
  ] as const) {
    test(`a commit refused as ${outcome} fails the command as ${code} and the run is read again`, async () => {
      host.fates = [outcome];
      assert.deepEqual(await tell(start), { kind: 'failed', code });
      assert.deepEqual(kinds([await tell(cancel)]), ['refused not_found']);
      await until('it is settled', () => host.settledWith.length > 0);
      assert.equal(host.settledWith[0], null);
    });
  }

  test('a full mailbox refuses commands and loses none that it accepted', async () => {
    host.row = runs.cancelled;
    const outcomes = await tellAll(...Array.from({ length: 1_001 }, () => cancel));
    assert.equal(outcomes.filter((outcome) => outcome.kind === 'accepted').length, 1_000);
    assert.deepEqual(outcomes.at(-1), { kind: 'failed', code: 'unavailable' });
  });

  test('a dropped actor sends waiting commands to the new owner and settles those in flight by their commit', async () => {
    let commit: (outcome: ChangeOutcome) => void = () => {};
    host.row = runs.running;
    host.fates = [
      new Promise((resolve) => {
        commit = resolve;
      }),
    ];
    const inFlight = tell(recordStep('t1', 3));
    await until('the change is submitted', () => host.changes.length === 1);
    const waiting = tell(recordStep('t1', 4));
    actor.drop();
    assert.deepEqual(await waiting, { kind: 'failed', code: 'wrong_shard' });
    assert.deepEqual(await tell(cancel), { kind: 'failed', code: 'wrong_shard' });
    commit('done');
    assert.equal((await inFlight).kind, 'accepted');
  });

  test('an actor dropped after a commit without a reply reads and reports nothing', async () => {
    let commit: (outcome: ChangeOutcome) => void = () => {};
    host.row = runs.running;
    host.fates = [
      new Promise((resolve) => {
        commit = resolve;
      }),
    ];
    const inFlight = tell(succeed('t1', 3));
    await until('the change is submitted', () => host.changes.length === 1);
    actor.drop();
    commit('unknown');
    assert.deepEqual(await inFlight, { kind: 'failed', code: 'unavailable' });
    assert.deepEqual([host.loads, host.committedEffects], [1, []]);
  });
});
