// Decides answers and cancels for the shards of this node, from the bus or a peer. Acknowledges them after the commit;
// a command that this node may not decide is left for the next owner.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { TurnBatch } from '@methods/base/turn-batch';
import { toErrorDetail } from '@methods/errors/error-detail';
import type { Logger } from '@methods/logging/logger';
import { type RunCommandReplySchema, RunCommandSchema } from '@methods/proto/event/v1/event_pb';
import { decoder } from '@methods/rpc/message-codec';
import { runOf } from '../actor/refusals.ts';
import type { ClaimsAtOnce } from '../claim/claims-at-once.ts';
import { commandOf, type RunCommandInit } from '../wire/command-message.ts';
import { runView } from '../wire/run-message.ts';

export type CommandReplyInit = MessageInitShape<typeof RunCommandReplySchema>;

const commandMessageOf = decoder(RunCommandSchema);
/** The sender has given up by then. */
const TOO_OLD_MS = 60_000;

export class CommandConsumer {
  private readonly replies: TurnBatch<{ subject: string; reply: CommandReplyInit }>;

  constructor(
    private readonly options: {
      readonly claims: Pick<ClaimsAtOnce, 'tell'>;
      readonly databaseNowMs: () => number;
      readonly publishReplies: (subject: string, replies: CommandReplyInit[]) => void;
      readonly logger: Logger;
    },
  ) {
    this.replies = new TurnBatch((items) => this.flush(items));
  }

  /** Handles a message of the bus. Calls `ack` only once the command is decided. */
  async received(body: Uint8Array, ack: () => void): Promise<void> {
    let command: RunCommandInit;
    try {
      command = commandMessageOf(body);
    } catch {
      this.options.logger.error({ bytes: body.length }, 'undecodable command dropped');
      return ack();
    }
    if (this.options.databaseNowMs() - (command.issuedAtMs ?? 0) > TOO_OLD_MS) return ack();
    const reply = await this.decide(command);
    if (reply === null) return;
    ack();
    this.replies.add({ subject: command.replySubject ?? '', reply });
  }

  /** Returns null if this node may not decide the command. */
  async decide(command: RunCommandInit): Promise<CommandReplyInit | null> {
    const { runId, orgId, commandId = '' } = command;
    const told = commandOf(command.command);
    if (told === null || !runId || !orgId) return null;
    const outcome = await this.options.claims.tell(orgId, runId, told);
    if (outcome.kind === 'failed' && outcome.code !== 'invalid_request') return null;
    try {
      return { commandId, outcome: { case: 'run', value: runView(runOf(outcome)) } };
    } catch (error) {
      return { commandId, outcome: { case: 'error', value: toErrorDetail(error) } };
    }
  }

  private flush(items: readonly { subject: string; reply: CommandReplyInit }[]): void {
    const bySubject = new Map<string, CommandReplyInit[]>();
    for (const { subject, reply } of items) {
      const replies = bySubject.get(subject);
      if (replies === undefined) bySubject.set(subject, [reply]);
      else replies.push(reply);
    }
    for (const [subject, replies] of bySubject) this.options.publishReplies(subject, replies);
  }
}
