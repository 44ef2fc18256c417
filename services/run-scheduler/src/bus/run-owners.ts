// Routes commands of people and applications to a run's owner: directly to its actor here, or over JetStream, from
// which the next owner also reads it, or over the peer stream while the bus is unavailable.
import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock } from '@methods/base/clock';
import { type OrgId, type RunId, randomToken, shardOfRunId } from '@methods/base/ids';
import { fromErrorDetail } from '@methods/errors/error-detail';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import { RunCommandRepliesSchema, type RunCommandReply, RunCommandSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';
import { runOf } from '../actor/refusals.ts';
import type { TellOutcome } from '../actor/run-actor.ts';
import type { ClaimsAtOnce } from '../claim/claims-at-once.ts';
import type { Run } from '../run/run.ts';
import { commandMessage, commandOf, type PublicCommand, type RunCommandInit } from '../wire/command-message.ts';
import type { PeerSender } from '../wire/peer-link.ts';
import { type RunViewMessage, runView } from '../wire/run-message.ts';

export interface CommandBus {
  readonly connected: boolean;
  /** Rejects when the bus does not store it. */
  publishCommand(shard: number, body: Uint8Array): Promise<void>;
}

interface Pending {
  readonly resolve: (view: RunViewMessage) => void;
  readonly reject: (error: ServiceError) => void;
  readonly timer: { cancel(): void };
}

const repliesOf = decoder(RunCommandRepliesSchema);
const REPLY_MS = 5_000;
/** A peer that may not decide does not reply; after this time another node may be the owner. */
const PEER_REPLY_MS = 1_500;
const BUS_REPLY_MS = 1_500;
const PENDING_MAX = 20_000;
/** While a shard moves, its owner is looked up again after this. */
const MOVING_MS = 200;

export class RunOwners {
  private readonly pending = new Map<string, Pending>();

  constructor(
    private readonly options: {
      readonly nodeId: string;
      readonly shardCount: number;
      readonly clock: Clock;
      readonly claims: Pick<ClaimsAtOnce, 'tell'>;
      readonly shards: { owns(shard: number): boolean; ownerOf(shard: number): string | null };
      readonly peers: PeerSender;
      readonly bus: CommandBus;
      /** The core subject for replies to this node. */
      readonly replySubject: string;
      readonly databaseNowMs: () => number;
    },
  ) {}

  /** `waiting`: the run with the question that an answer was checked against. */
  async tell(orgId: OrgId, runId: RunId, command: PublicCommand, waiting?: Run): Promise<RunViewMessage> {
    const shard = shardOfRunId(runId, this.options.shardCount);
    if (shard === null) throw new ServiceError('not_found', 'There is no such run.');
    if (this.options.shards.owns(shard)) {
      const outcome = await this.options.claims.tell(orgId, runId, command, waiting);
      // The shard was lost between the two lines: the bus brings the command to the next owner.
      if (!isWrongShard(outcome)) return runView(runOf(outcome));
    }
    return this.send(orgId, runId, shard, command);
  }

  private send(orgId: OrgId, runId: RunId, shard: number, command: PublicCommand): Promise<RunViewMessage> {
    if (this.pending.size >= PENDING_MAX) return Promise.reject(new ServiceError('unavailable'));
    const commandId = randomToken();
    const message: RunCommandInit = {
      commandId,
      replySubject: this.options.replySubject,
      issuedAtMs: this.options.databaseNowMs(),
      orgId,
      runId,
      command: commandMessage(command),
    };
    return new Promise((resolve, reject) => {
      const timer = this.options.clock.after(REPLY_MS, () =>
        this.settle(commandId, (p) => p.reject(new ServiceError('unavailable', 'The owner of the run did not reply.'))),
      );
      this.pending.set(commandId, { resolve, reject, timer });
      if (this.options.bus.connected) {
        const body = toBinary(RunCommandSchema, create(RunCommandSchema, message));
        this.options.bus.publishCommand(shard, body).then(
          // The command is stored, but an owner that is cut off from the bus never receives it. A command that arrives
          // twice counts once.
          () => this.options.clock.after(BUS_REPLY_MS, () => this.overPeers(message)),
          () => this.overPeers(message),
        );
      } else {
        this.overPeers(message);
      }
    });
  }

  /** Repeats the command until an owner of the shard takes it, within the caller's time. */
  private overPeers(message: RunCommandInit): void {
    if (!this.pending.has(message.commandId ?? '')) return;
    const shard = shardOfRunId(message.runId ?? '', this.options.shardCount);
    const owner = shard === null ? null : this.options.shards.ownerOf(shard);
    const again = () => void this.options.clock.after(MOVING_MS, () => this.overPeers(message));
    if (shard !== null && this.options.shards.owns(shard)) return void this.tellHere(message);
    if (owner === null || owner === this.options.nodeId) return again();
    this.options.peers.request(owner, { item: { case: 'command', value: message } }, PEER_REPLY_MS).then(
      (reply) => {
        if (reply.item.case === 'commandReply') this.replied(reply.item.value);
        else again();
      },
      () => again(),
    );
  }

  private async tellHere(message: RunCommandInit): Promise<void> {
    const { runId, orgId, commandId = '' } = message;
    const command = commandOf(message.command);
    if (command === null || !runId || !orgId) return;
    const outcome = await this.options.claims.tell(orgId, runId, command);
    if (isWrongShard(outcome)) {
      this.options.clock.after(MOVING_MS, () => this.overPeers(message));
      return;
    }
    try {
      const view = runView(runOf(outcome));
      this.settle(commandId, (p) => p.resolve(view));
    } catch (error) {
      this.settle(commandId, (p) => p.reject(asServiceError(error)));
    }
  }

  /** Handles replies that came on this node's reply subject. */
  received(body: Uint8Array): void {
    for (const reply of repliesOf(body).replies) this.replied(reply);
  }

  private replied(reply: RunCommandReply): void {
    const { outcome } = reply;
    this.settle(reply.commandId, (pending) => {
      if (outcome.case === 'run') pending.resolve(outcome.value);
      else if (outcome.case === 'error') pending.reject(fromErrorDetail(outcome.value));
      // Only a newer node knows this kind: the waiting caller needs an error.
      else pending.reject(new ServiceError('unavailable', "The reply of the run's owner was not understood."));
    });
  }

  private settle(commandId: string, how: (pending: Pending) => void): void {
    const pending = this.pending.get(commandId);
    if (pending === undefined) return;
    this.pending.delete(commandId);
    pending.timer.cancel();
    how(pending);
  }
}

function isWrongShard(outcome: TellOutcome): boolean {
  return outcome.kind === 'failed' && outcome.code === 'wrong_shard';
}
