// The timer of a test, over one node's actors on a real database.
import { type Clock, systemClock } from '@methods/base/clock';
import { silentLogger } from '@methods/logging/logger';
import type { TestActors } from '../actor/test-actors.fixture.ts';
import { DueQuestions } from './due-questions.ts';

/** It hears of commits made from now on. */
export function timerOf(node: TestActors, clock: Clock = systemClock): DueQuestions {
  const due = new DueQuestions({
    store: node.store,
    actors: node.actors,
    databaseClock: node.databaseClock,
    clock,
    ownedShards: () => [...node.epochs.keys()],
    owns: (shard) => node.epochs.has(shard),
    epochOf: (shard) => node.epochs.get(shard) ?? null,
    logger: silentLogger,
  });
  node.actors.listen({ committed: (old, run) => due.committed(old, run) });
  return due;
}
