// The events sent after a commit, and the messages received over the bus.
import { CommandConsumer } from '../bus/command-consumer.ts';
import { EventRelay } from '../bus/event-relay.ts';
import { LiveChanges } from '../bus/live-changes.ts';
import { NodeBus } from '../bus/node-bus.ts';
import { RunOwners } from '../bus/run-owners.ts';
import { OrganizationFollowers } from '../rpc/organization-followers.ts';
import { RunWatchers } from '../rpc/run-watchers.ts';
import { DueQuestions } from '../timer/due-questions.ts';
import type { NodeParts } from './node-parts.ts';

export function provideEvents(parts: NodeParts): void {
  const {
    provide,
    nodeId,
    clock,
    log,
    shardCount,
    owns,
    owned,
    epochOf,
    databaseNowMs,
    store,
    outbox,
    databaseClock,
    registry,
    bus,
    peers,
    shards,
    actors,
    claimsAtOnce,
    keeper,
    sessions,
    heartbeats,
    relay,
    watchers,
    live,
    commands,
    nodeBus,
    owners,
  } = parts;
  provide(
    DueQuestions,
    () =>
      new DueQuestions({
        store: store(),
        actors: actors(),
        databaseClock: databaseClock(),
        clock,
        ownedShards: owned,
        owns,
        epochOf,
        logger: log.child({ part: 'deadlines' }),
      }),
  );
  provide(
    EventRelay,
    () =>
      new EventRelay({
        outbox: outbox(),
        publisher: { publish: (event) => nodeBus().publishEvent(event) },
        databaseClock: databaseClock(),
        shardCount,
        ownedShards: owned,
        owns,
        logger: log.child({ part: 'relay' }),
      }),
  );
  provide(
    RunWatchers,
    () =>
      new RunWatchers({
        clock,
        shardCount,
        owns,
        read: (runId) => actors().read(runId),
        shardWatched: (shard, watched) => nodeBus().watchShard(shard, watched),
        stepsWatched: (runIds) => nodeBus().publishWatched(runIds),
      }),
  );
  provide(OrganizationFollowers, () => new OrganizationFollowers(clock));
  provide(
    LiveChanges,
    () =>
      new LiveChanges({
        clock,
        shardCount,
        owns,
        hasPeers: () => peers().connected().length > 0,
        publish: (shard, body) => nodeBus().publishLive(shard, body),
      }),
  );
  provide(
    CommandConsumer,
    () =>
      new CommandConsumer({
        claims: claimsAtOnce(),
        databaseNowMs,
        publishReplies: (subject, replies) => nodeBus().publishReplies(subject, replies),
        logger: log.child({ part: 'commands' }),
      }),
  );
  provide(
    NodeBus,
    () =>
      new NodeBus(bus(), nodeId, {
        command: (body, ack) => void commands().received(body, ack),
        commandReplies: (body) => owners().received(body),
        heartbeats: (from, runs) => keeper().heartbeats(from, runs),
        changedElsewhere: (runIds) => watchers().changedElsewhere(runIds),
        stepsWatched: (runIds) => live().watchedElsewhere(runIds),
        eventsStored: (body) => relay().confirmed(body),
        keyChanged: (keyId) => {
          registry().keys.changed(keyId);
          sessions().keyChanged(keyId);
        },
        settingsChanged: (orgId) => registry().retention.changed(orgId),
        connected: () => {
          heartbeats().tellAll();
          void relay().sendAll();
        },
        shardLost: (shard, epoch) => shards().lost([{ shard, epoch }]),
      }),
  );
  provide(
    RunOwners,
    () =>
      new RunOwners({
        nodeId,
        shardCount,
        clock,
        claims: claimsAtOnce(),
        shards: shards(),
        peers: peers(),
        bus: nodeBus(),
        replySubject: nodeBus().replySubject,
        databaseNowMs,
      }),
  );
}
