import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrgId, RunId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import type { RunActors } from '../actor/run-actors.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { runs } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import type { DueQuestion, RunStore } from '../store/run-store.ts';
import { DueQuestions } from './due-questions.ts';

test('deadlines that are not in memory, also those of commits, are read from their rows when others are over', async () => {
  const clock = new ManualClock();
  const databaseClock = new DatabaseClock(clock);
  databaseClock.observe(clock.wallMs());
  const rows = new Map<string, DueQuestion>();
  const woken: string[] = [];
  let reads = 0;
  const due = new DueQuestions({
    store: {
      async dueQuestions() {
        reads++;
        return { questions: [...rows.values()], end: null };
      },
    } as Partial<RunStore> as RunStore,
    actors: {
      async tell(_orgId: OrgId | null, runId: RunId) {
        rows.delete(runId);
        woken.push(runId);
        return { kind: 'refused' };
      },
    } as unknown as RunActors,
    databaseClock,
    clock,
    ownedShards: () => [0],
    owns: () => true,
    epochOf: () => null,
    logger: silentLogger,
    knownMax: 3,
  });
  const settle = () => new Promise(setImmediate);
  due.start();
  await settle();
  for (let n = 0; n < 8; n++) {
    const runId = `run_${n}` as const;
    const wakeAtMs = clock.wallMs() + 500;
    rows.set(runId, { runId, orgId: 'org_a', shard: 0, questionId: '', wakeAtMs, bytes: 100 });
    due.committed(null, { ...runs.sleeping, facts: { ...runs.sleeping.facts, runId }, wakeAtMs } as Run);
  }
  clock.forward(600);
  await settle();
  assert.deepEqual([woken.length, reads], [3, 1]);
  clock.forward(500);
  await settle();
  clock.forward(2);
  await settle();
  assert.deepEqual([woken.length, reads], [8, 2]);
  due.stop();
});
