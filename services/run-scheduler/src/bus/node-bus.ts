// This node's subjects on the bus: what it receives and what it sends.

import { create, toBinary } from '@bufbuild/protobuf';
import type { KeyId, OrgId, RunId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import type { Bus } from '@methods/bus/connection';
import * as subjects from '@methods/bus/subjects';
import { toErrorDetail } from '@methods/errors/error-detail';
import { ServiceError } from '@methods/errors/service-error';
import { HeldHeartbeatsSchema, RegistryChangedSchema, RunCommandRepliesSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';
import type { OutboxEvent } from '../store/run-store.ts';
import type { HeartbeatRun } from '../worker-stream/heartbeat-sender.ts';
import type { CommandReplyInit } from './command-consumer.ts';
import { liveRunIds, watchedRunIds, watchedRuns } from './live-changes.ts';

const heartbeatsOf = decoder(HeldHeartbeatsSchema);
const changeOf = decoder(RegistryChangedSchema);
const NOTHING = new Uint8Array(0);

export interface NodeBusHandlers {
  command(body: Uint8Array, ack: () => void): void;
  commandReplies(body: Uint8Array): void;
  heartbeats(fromNode: string, runs: readonly HeartbeatRun[]): void;
  changedElsewhere(runIds: readonly RunId[]): void;
  /** A node, which may be this one, watches these runs step by step. */
  stepsWatched(runIds: readonly RunId[]): void;
  eventsStored(body: Uint8Array): void;
  keyChanged(keyId: KeyId): void;
  settingsChanged(orgId: OrgId): void;
  endpointsChanged(orgId: OrgId): void;
  connected(): void;
  /** Another node owns this shard under a later epoch. */
  shardLost(shard: number, epoch: number): void;
}

export class NodeBus implements Stoppable {
  readonly replySubject: string;
  private readonly mailbox: ReturnType<Bus['consumeShardCommands']>;
  private readonly live = new Map<number, { unsubscribe(): void }>();

  constructor(
    private readonly bus: Bus,
    nodeId: string,
    private readonly handlers: NodeBusHandlers,
  ) {
    this.replySubject = subjects.inbox(nodeId);
    this.mailbox = bus.consumeShardCommands({
      deliverTo: subjects.commandDelivery(nodeId),
      onMessage: (_shard, data, ack) => handlers.command(data, ack),
      onLost: (shard, epoch) => handlers.shardLost(shard, epoch),
    });
    bus.subscribe(
      this.replySubject,
      each((data) => handlers.commandReplies(data)),
    );
    bus.subscribe(
      subjects.runEventStored,
      each((data) => handlers.eventsStored(data)),
    );
    bus.subscribe(
      subjects.runWatched,
      each((data) => handlers.stepsWatched(watchedRunIds(data))),
    );
    bus.subscribe(
      subjects.registryChanges,
      each((data) => this.registryChanged(data)),
    );
    bus.watchHeartbeats(
      nodeId,
      each((data) => {
        const { fromNode, runs } = heartbeatsOf(data);
        handlers.heartbeats(fromNode, runs);
      }),
    );
    bus.onConnected(() => handlers.connected());
  }

  get connected(): boolean {
    return this.bus.connected;
  }

  start(): void {
    this.bus.start();
  }

  stop(): Promise<void> {
    return this.bus.stop();
  }

  own(shards: readonly { shard: number; epoch: number }[]): void {
    for (const { shard, epoch } of shards) this.mailbox.own(shard, epoch);
  }

  disown(shards: readonly number[]): void {
    for (const shard of shards) this.mailbox.disown(shard);
  }

  /** Subscribes to changes of the shard while runs of it are watched here. */
  watchShard(shard: number, watched: boolean): void {
    this.live.get(shard)?.unsubscribe();
    this.live.delete(shard);
    if (!watched) return;
    const onMessages = each((data) => this.handlers.changedElsewhere(liveRunIds(data)));
    this.live.set(shard, this.bus.subscribe(subjects.runLive(shard), onMessages));
  }

  publishCommand(shard: number, body: Uint8Array): Promise<void> {
    return this.bus.publishDurable(subjects.runCommand(shard), body);
  }

  /** Sends replies, in parts if one message cannot carry them. */
  publishReplies(subject: string, replies: readonly CommandReplyInit[]): void {
    const body = toBinary(RunCommandRepliesSchema, create(RunCommandRepliesSchema, { replies: [...replies] }));
    if (this.bus.publish(subject, body) || !this.bus.connected) return;
    const [reply] = replies;
    if (replies.length < 2) {
      if (reply !== undefined && reply.outcome?.case === 'run') this.publishReplies(subject, [tooLarge(reply)]);
      return;
    }
    const middle = replies.length >> 1;
    this.publishReplies(subject, replies.slice(0, middle));
    this.publishReplies(subject, replies.slice(middle));
  }

  publishWorkersChanged(orgId: OrgId): void {
    this.bus.publish(subjects.workersChanged(orgId), NOTHING);
  }

  publishLive(shard: number, body: Uint8Array): void {
    this.bus.publish(subjects.runLive(shard), body);
  }

  /** Announces the runs of other nodes that are watched here step by step. */
  publishWatched(runIds: readonly RunId[]): void {
    this.bus.publish(subjects.runWatched, watchedRuns(runIds));
  }

  /** Returns false when JetStream is not known to have taken them. */
  publishHeartbeats(nodeId: string, body: Uint8Array): Promise<boolean> {
    return this.bus.publishDurable(subjects.runHeartbeat(nodeId), body, { timeoutMs: 1_000 }).then(
      () => true,
      () => false,
    );
  }

  publishEvent(event: OutboxEvent): Promise<void> {
    return this.bus.publishDurable(subjects.runEvent(event.orgId, event.runId), event.body);
  }

  private registryChanged(data: Uint8Array): void {
    const { orgId, kind, id } = changeOf(data);
    if (kind === 'key') this.handlers.keyChanged(id as KeyId);
    else if (kind === 'settings') this.handlers.settingsChanged(orgId);
    else if (kind === 'endpoint') this.handlers.endpointsChanged(orgId);
  }
}

/** The command succeeded, but its run is too large for the bus. */
function tooLarge({ commandId }: CommandReplyInit): CommandReplyInit {
  const error = new ServiceError('too_large', 'The run is larger than a message.');
  return { commandId: commandId ?? '', outcome: { case: 'error', value: toErrorDetail(error) } };
}

/**
 * Passes each message to `take`. One that fails must not affect the others of its turn; the first error is thrown at
 * the end.
 */
function each(take: (data: Uint8Array) => void): (messages: readonly { readonly data: Uint8Array }[]) => void {
  return (messages) => {
    const faults: unknown[] = [];
    for (const { data } of messages) {
      try {
        take(data);
      } catch (fault) {
        faults.push(fault);
      }
    }
    if (faults.length > 0) throw faults[0];
  };
}
