// The run-scheduler as a whole: which parts listen to which, and the order they start and stop in. The parts themselves
// are made in composition/.

import { type Clock, systemClock } from '@methods/base/clock';
import { type Stoppable, startAll, stopAll } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import { provideEvents } from './composition/events.ts';
import { nodeParts } from './composition/node-parts.ts';
import { provideRuns } from './composition/runs.ts';
import { provideServing } from './composition/serving.ts';
import { provideShards } from './composition/shards.ts';
import { provideStorage } from './composition/storage.ts';
import { provideWorkers } from './composition/workers.ts';
import type { Config } from './config.ts';
import { Ticks } from './timer/ticks.ts';

export interface RunScheduler extends Stoppable {
  /** @throws an Error whose message is for the operator. */
  start(): Promise<void>;
  readonly nodeId: string;
  readonly port: number;
  readonly workerPort: number;
}

/** A busy node is late by less. */
const STOOD_STILL_MS = 1_000;

export function composeRunScheduler(config: Config, logger: Logger, clock: Clock = systemClock): RunScheduler {
  const parts = nodeParts(config, logger, clock);
  for (const provide of [provideStorage, provideShards, provideRuns, provideWorkers, provideEvents, provideServing]) {
    provide(parts);
  }
  const {
    nodeId,
    pools,
    state,
    database,
    store,
    folderSweep,
    retiredIndex,
    retention,
    databaseClock,
    clockLook,
    registry,
    membership,
    peers,
    shards,
    committer,
    actors,
    interests,
    news,
    helloPace,
    ready,
    waiters,
    keeper,
    grants,
    claims,
    sessions,
    heartbeats,
    takeOver,
    due,
    relay,
    watchers,
    live,
    followers,
    nodeBus,
    gatewayRpc,
    router,
    server,
    workerServer,
    formThreads,
    valueThreads,
  } = parts;
  const ticks = new Ticks(clock);
  // An offered place whose answer was lost is free again.
  ticks.every(500, () => waiters().sweep());
  // A node may have forgotten a head that was announced to it.
  ticks.every(1_000, () => ready().tellHeads());
  // A queue that seems empty may have missed a wake-up.
  ticks.every(5_000, () => void ready().recheckEmpty());
  // Unconfirmed events, and changes of watched runs whose message was lost.
  ticks.every(2_500, () => void relay().sweep());
  ticks.every(5_000, () => watchers().pollForeign());
  ticks.every(2_000, () => watchers().tellStepwise());
  // Idle actors and unneeded folders.
  ticks.every(2_500, () => actors().sweep());
  ticks.every(600_000, () => void folderSweep().sweep());
  // Only nodes of the release before need it.
  ticks.every(600_000, () => void retiredIndex().look());
  // Keys whose workers have not come for a while.
  ticks.every(60_000, () => helloPace().sweep());
  ticks.every(500, (lateMs) => {
    if (lateMs > STOOD_STILL_MS) keeper().leases.stoodStill(lateMs);
    keeper().leases.sweep();
  });
  // A clock that was set goes unnoticed where nothing is committed.
  ticks.every(2_000, () => void clockLook().look());
  // Workers whose key was revoked while the message was lost.
  ticks.every(5_000, () => void sessions().recheckKeys());
  ticks.every(1_000, () => heartbeats().send());

  function listen(): void {
    databaseClock().onJump(() => due().look());
    actors().listen(grants());
    actors().listen(keeper());
    actors().listen(watchers());
    actors().listen(live());
    actors().listen(followers());
    actors().listen(due());
    actors().listen(claims());
    actors().listen({ committed: (before, after) => ready().committed(before, after) });
    actors().listenEvents((events) => relay().committed(events));
    peers().onItem((from, item, reply) => router().received(from, item, reply));
    peers().onConnected((peer) => {
      news().tell(peer);
      heartbeats().tellAll();
    });
    peers().onDown((peer) => {
      interests().nodeGone(peer);
      waiters().nodeGone(peer);
    });
    shards().onTaken(async (taken) => {
      nodeBus().own(taken);
      actors().dropShards(new Set(taken.map(({ shard }) => shard)));
      ready().reset();
      due().look();
      relay().taken(taken.map(({ shard }) => shard));
      await takeOver().taken(taken.map(({ shard }) => shard));
    });
    const letGo = (list: readonly number[]) => {
      const gone = new Set(list);
      nodeBus().disown(list);
      actors().dropShards(gone);
      keeper().leases.dropShards(gone);
      store().forget(gone);
      relay().lost(list);
      ready().reset();
    };
    shards().onLost((list) => {
      letGo(list);
      // Commits that were under way may have happened, and their actors are gone.
      followers().missed();
    });
    shards().onReleasing(async (list) => {
      actors().dropShards(new Set(list));
      await committer().idle();
      letGo(list);
    });
    shards().onChange(() => {
      watchers().ownersChanged();
      gatewayRpc().stateChanged();
    });
  }

  const order: Stoppable[] = [
    { stop: () => Promise.all(Object.values(pools).map((sql) => sql.end({ timeout: 2 }))).then(() => {}) },
    database(),
    registry(),
    formThreads(),
    valueThreads(),
    {
      start: async () => databaseClock().observe(await database().untilDone(() => store().clockMs())),
      stop: () => {},
    },
    { start: listen, stop: () => {} },
    { start: () => nodeBus().start(), stop: () => nodeBus().stop() },
    server(),
    membership(),
    peers(),
    { start: () => due().start(), stop: () => due().stop() },
    ticks,
    retention(),
    { start: () => database().untilDone(() => shards().start()), stop: () => shards().stop() },
    workerServer(),
    {
      stop: async () => {
        state.draining = true;
        gatewayRpc().stateChanged();
        sessions().drain();
        await committer().idle();
      },
    },
  ];
  return {
    nodeId,
    start: () => startAll(order),
    stop: () => stopAll(order),
    get port() {
      return server().port;
    },
    get workerPort() {
      return workerServer().port;
    },
  };
}
