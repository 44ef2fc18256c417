// A tool as agents see it and as it is called. One file below tools/ has the tools of one noun; tools/all-tools.ts lists
// them.
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
  /** Signs what a client keeps while its user is asked. */
  readonly mcpStateKey: Buffer;
  /** Null: there are no people, so there is no MCP server. */
  readonly mcpUrl: string | null;
  readonly publicUrl: string | null;
}

/** One call, within the request that carries it. */
export interface ToolCall {
  readonly parts: McpParts;
  readonly orgId: OrgId;
  readonly role: Role;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The protocol's side of the call: progress, and what the client has and sent. */
  readonly exchange: ServerContext;
}

/** Its result: a sentence of ours, and data for the structured content and, marked as data, for the text. */
export interface ToolOutcome {
  readonly summary: string;
  readonly data: object;
  /** Replaces the JSON of `data` in the text. */
  readonly text?: string;
}

export interface Tool<Input extends TObject = TObject> {
  readonly name: string;
  readonly title: string;
  /** For an agent: when to use it, what it gives, what it does not. */
  readonly description: string;
  /** The least role that sees and may call it. */
  readonly access: Role;
  readonly input: Input;
  readonly output: TObject;
  /** Shown to the user of a client before the call. */
  readonly hints: {
    readonly readOnly: boolean;
    /** Takes something away that was there. */
    readonly destructive?: boolean;
    /** A repeat changes nothing more. */
    readonly idempotent?: boolean;
  };
  /** Of the arguments, what is checked before the call; by default all of `input`. */
  readonly checks?: TObject;
  call(args: Static<Input>, call: ToolCall): Promise<ToolOutcome | InputRequiredResult>;
}

/** Checks the types of one tool; the list holds tools of any input. */
export function tool<Input extends TObject>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}
