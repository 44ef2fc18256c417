// The parts of a node on the bus: its subjects, its way to the owners of runs and its mailbox, on a real NATS and with
// actors on a real database.
import { systemClock } from '@methods/base/clock';
import { type RunId, randomToken } from '@methods/base/ids';
import { Bus } from '@methods/bus/connection';
import { silentLogger } from '@methods/logging/logger';
import type { TestActors } from '../actor/test-actors.fixture.ts';
import type { HeartbeatRun } from '../worker-stream/heartbeat-sender.ts';
import { CommandConsumer } from './command-consumer.ts';
import { NodeBus } from './node-bus.ts';
import { RunOwners } from './run-owners.ts';

export class BusNode {
  readonly nodeId = `node_${randomToken()}`;
  readonly bus: NodeBus;
  readonly owners: RunOwners;
  /** Commands delivered here. The acknowledgements of the first `acksLost` are lost. */
  delivered = 0;
  acksLost = 0;
  readonly replies: Uint8Array[] = [];
  readonly heartbeats: { from: string; runs: readonly HeartbeatRun[] }[] = [];
  readonly changedElsewhere: string[] = [];
  readonly stepsWatched: RunId[] = [];
  readonly keysChanged: string[] = [];
  readonly settingsChanged: string[] = [];
  readonly lost: number[] = [];
  connects = 0;

  /** Runs are owned by `ownerOf()`, which may be this node. */
  constructor(natsUrl: string, actors: TestActors, ownerOf: () => string) {
    const { nodeId } = this;
    const databaseNowMs = () => actors.databaseClock.nowMs();
    const consumer = new CommandConsumer({
      claims: actors.actors,
      databaseNowMs,
      publishReplies: (subject, replies) => this.bus.publishReplies(subject, replies),
      logger: silentLogger,
    });
    this.bus = new NodeBus(new Bus({ url: natsUrl, name: nodeId, logger: silentLogger }), nodeId, {
      command: (body, ack) => {
        this.delivered++;
        void consumer.received(body, () => (this.acksLost-- > 0 ? undefined : ack()));
      },
      commandReplies: (body) => {
        this.replies.push(body);
        this.owners.received(body);
      },
      heartbeats: (from, runs) => this.heartbeats.push({ from, runs }),
      changedElsewhere: (runIds) => this.changedElsewhere.push(...runIds),
      stepsWatched: (runIds) => this.stepsWatched.push(...runIds),
      eventsStored: () => {},
      keyChanged: (keyId) => this.keysChanged.push(keyId),
      endpointsChanged: (orgId) => this.settingsChanged.push(`endpoints of ${orgId}`),
      settingsChanged: (orgId) => this.settingsChanged.push(orgId),
      connected: () => this.connects++,
      shardLost: (shard) => this.lost.push(shard),
    });
    this.owners = new RunOwners({
      nodeId,
      shardCount: 4,
      clock: systemClock,
      claims: actors.actors,
      shards: { owns: () => ownerOf() === nodeId, ownerOf },
      peers: {
        send: () => false,
        request: () => Promise.reject(new Error('no link')),
        connected: () => [],
      },
      bus: this.bus,
      replySubject: this.bus.replySubject,
      databaseNowMs,
    });
    this.bus.start();
  }
}
