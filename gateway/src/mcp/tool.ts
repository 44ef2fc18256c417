// A tool as agents see and call it. Each file below tools/ has the tools of one noun; tools/all-tools.ts lists them.
import type { Role } from '@methods/auth/caller';
import type { OrgId } from '@methods/base/ids';
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject } from 'typebox';
import type { OfferedMethods } from '../clients/offered-methods.ts';
import type { LargeBodies } from '../plugins/large-bodies.ts';
import type { UnreadReplies } from '../plugins/unread-replies.ts';
import type { InboxRouteParts } from '../routes/inbox/inbox-parts.ts';
import type { MethodRouteParts } from '../routes/methods/method-parts.ts';
import type { RunRouteParts } from '../routes/runs/run-reply.ts';
import type { ListChanges } from './list-changes.ts';

export interface McpParts extends RunRouteParts, MethodRouteParts, InboxRouteParts {
  readonly largeBodies: LargeBodies;
  readonly unreadReplies: UnreadReplies;
  readonly offeredMethods: Pick<OfferedMethods, 'of'>;
  readonly listChanges: Pick<ListChanges, 'busOf'>;
  /** Signs the state that a client holds while its user is asked. */
  readonly mcpStateKey: Buffer;
  /** Null: there are no people, so there is no MCP server. */
  readonly mcpUrl: string | null;
  readonly publicUrl: string | null;
}

/** One call, and the request that carries it. */
export interface ToolCall {
  readonly parts: McpParts;
  readonly orgId: OrgId;
  readonly role: Role;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The protocol's side of the call: progress, and what the client supports and sent. */
  readonly exchange: ServerContext;
}

/** A tool's result: a sentence of ours, and data for the structured content and, marked as data, for the text. */
export interface ToolOutcome {
  readonly summary: string;
  readonly data: object;
  /** Replaces the JSON of `data` in the text. */
  readonly text?: string;
}

export interface Tool<Input extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  /** For an agent: when to use it, what it returns, what it does not do. */
  readonly description: string;
  /** The lowest role that sees and may call it. */
  readonly access: Role;
  readonly input: Input;
  readonly output: TObject;
  /** Shown to the user of a client before the call. */
  readonly hints: {
    readonly readOnly: boolean;
    /** Removes or overwrites something. */
    readonly destructive?: boolean;
    /** A repeat changes nothing more. */
    readonly idempotent?: boolean;
  };
  /** The part of the arguments that is checked before the call; by default all of `input`. */
  readonly checks?: TObject;
  call(args: Static<Input>, call: ToolCall): Promise<ToolOutcome | InputRequiredResult>;
}

/** Checks the types of one tool; the list holds tools with any input. */
export function tool<Input extends TObject>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}
