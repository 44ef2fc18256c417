// A timer under test, over one node's actors on a real database.
import { type Clock, systemClock } from '@methods/base/clock';
import { silentLogger } from '@methods/logging/logger';
import type { TestActors } from '../actor/test-actors.fixture.ts';
import { DueQuestions } from './due-questions.ts';

/** Timers start when the test says so: a deadline of a few ms must not pass before the test has looked. */
export function heldTimers(): { clock: Clock; begin(): void } {
  let held: (() => void)[] | null = [];
  const clock: Clock = {
    ...systemClock,
    after(delayMs, run) {
      let cancelled = false;
      let timer: { cancel(): void } | null = null;
      const begin = () => {
        if (!cancelled) timer = systemClock.after(delayMs, run);
      };
      if (held === null) begin();
      else held.push(begin);
      return {
        cancel() {
          cancelled = true;
          timer?.cancel();
        },
      };
    },
  };
  const begin = () => {
    const begun = held ?? [];
    held = null;
    for (const one of begun) one();
  };
  return { clock, begin };
}

/** Passes commits from now on to the timer. */
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
