// The actors of runs and the one path on which they are written.
import { Committer } from '../actor/committer.ts';
import { RunActors } from '../actor/run-actors.ts';
import { runEvent } from '../bus/run-event.ts';
import type { NodeParts } from './node-parts.ts';

export function provideRuns(parts: NodeParts): void {
  const { provide, clock, log, shardCount, owns, epochOf, store, databaseClock, shards, committer, takeOver } = parts;
  provide(
    Committer,
    () =>
      new Committer({
        store: store(),
        shards: {
          epochOf,
          lost: (list) => shards().lost(list),
          async bump(list) {
            await shards().bump(list);
            void takeOver().taken(list);
          },
        },
        clock,
        databaseClock: databaseClock(),
        logger: log.child({ part: 'committer' }),
      }),
  );
  provide(
    RunActors,
    () =>
      new RunActors({
        store: store(),
        committer: committer(),
        databaseClock: databaseClock(),
        clock,
        shardCount,
        owns,
        eventFor: (run, effect) => runEvent(run, effect),
        logger: log.child({ part: 'runs' }),
      }),
  );
}
