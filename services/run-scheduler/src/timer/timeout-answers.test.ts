import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import type { Act } from '@methods/service/audit-log';
import { until } from '@methods/test/harness/until';
import { ManualClock } from '../manual-clock.fixture.ts';
import { answer, ask, cancel, claim, expireQuestion, person } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { decide, newFacts, startOf, TestStore } from '../store/run-store.fixture.ts';
import { UnrecordedAnswers } from '../store/unrecorded-answers.ts';
import { TimeoutAnswers } from './timeout-answers.ts';

const POLICY = { to: [], notStarter: false, needs: null, remindMs: [1], escalate: null };
const LATE_MS = 10;

let db: TestStore;
before(async () => {
  db = await TestStore.open();
});
after(() => db.close());

class Node {
  readonly acts: Act[] = [];
  readonly clock = new ManualClock();
  refusal: ServiceError | null = null;
  readonly answers = new TimeoutAnswers({
    audit: {
      record: async (act) => {
        if (this.refusal !== null) throw this.refusal;
        this.acts.push(act);
      },
    },
    rows: new UnrecordedAnswers({ sql: db.sql, deadlineMs: 60_000 }),
    clock: this.clock,
    isMine: () => true,
    logger: silentLogger,
  });
}

async function asked(timeoutAnswerJson: string | null): Promise<Run> {
  const facts = newFacts(0);
  const policy = { ...POLICY, timeoutAnswerJson };
  const question = { ...ask('t1', 1, `q_${facts.runId}`, 1), policy, formSha256: 'f0', versionSha256: 'e0' };
  return db.tell(null, startOf(facts), claim('t1'), question as RunCommand);
}

/** Commits it; `node` is notified, if it lives. */
async function told(run: Run, command: RunCommand, node: Node | null): Promise<Run> {
  const change = decide(run, command, (await db.nowMs()) + (command.type === 'expire_question' ? LATE_MS : 0));
  assert.ok((await db.store.commit([change])).done.size === 1);
  node?.answers.committed(run, change.after);
  return change.after;
}

const expired = (run: Run, node: Node | null) => told(run, expireQuestion(`q_${run.facts.runId}`), node);

async function unrecorded(): Promise<number> {
  return (await db.sql`select from scheduler.questions where unrecorded_at_ms is not null`).length;
}

/** As it is a while later. */
async function aged(): Promise<void> {
  await db.sql`update scheduler.questions set unrecorded_at_ms = unrecorded_at_ms - 60000`;
}

test('an answer of the deadline is recorded with the facts of its receipt, and without what it says', async () => {
  const node = new Node();
  const run = await asked('{"choice":"secret"}');
  const answered = await expired(run, node);
  await told(answered, cancel, node);
  const { orgId, runId } = run.facts;
  const { answeredAtMs = 0 } = answered.answers[0] ?? {};
  const [{ past, ...act }] = node.acts as [Act];
  assert.equal(node.acts.length, 1);
  assert.deepEqual(act, {
    orgId,
    doer: { kind: 'system', id: 'deadline', ip: '', requestId: '' },
    action: 'run.answer',
    targetId: runId,
    facts: {
      ...{ question_id: `q_${runId}`, channel: 'timeout', counted: 'answer' },
      ...{ form_sha256: 'f0', version_sha256: 'e0' },
    },
  });
  assert.equal(past?.atMs, answeredAtMs);
  assert.equal(await unrecorded(), 1);
  node.clock.forward(100);
  await until('it is marked', async () => (await unrecorded()) === 0);
});

test('a line that a node lost is sent by the next one, with the same id', async () => {
  const lost = await expired(await asked('{}'), null);
  const node = new Node();
  const sent = await expired(await asked('{}'), node);
  // It dies before it marks the row.
  const next = new Node();
  await next.answers.look();
  assert.deepEqual(next.acts, [], 'they may be on their way');
  await aged();
  next.refusal = new ServiceError('unavailable');
  await next.answers.look();
  assert.equal(await unrecorded(), 2);
  next.refusal = null;
  await next.answers.look();
  assert.deepEqual(new Set(next.acts.map(({ targetId }) => targetId)), new Set([lost, sent].map((r) => r.facts.runId)));
  assert.deepEqual(
    next.acts.find(({ targetId }) => targetId === sent.facts.runId),
    node.acts[0],
  );
  assert.equal(await unrecorded(), 0);
});

test('a line that the registry refuses is not sent again', async () => {
  await expired(await asked('{}'), null);
  await aged();
  const node = new Node();
  node.refusal = new ServiceError('invalid_request');
  await node.answers.look();
  assert.equal(await unrecorded(), 0);
});

test('an answer of a person and a deadline without an answer are not recorded here', async () => {
  const node = new Node();
  const run = await asked('{}');
  await told(run, { ...answer(`q_${run.facts.runId}`, 'd'), by: person('ann') }, node);
  await expired(await asked(null), node);
  assert.deepEqual(node.acts, []);
  assert.equal(await unrecorded(), 0);
});
