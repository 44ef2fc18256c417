// A question and the receipt of its answer, as the API shows them.
import type { JsonObject, JsonValue } from '@methods/method/json';
import { type Static, Type } from 'typebox';
import { AnyJson, Sealed, Time } from './value.ts';

export const CHANNEL_NAMES = ['unknown', 'api', 'cli', 'inbox', 'link', 'chat', 'handler', 'mcp', 'timeout'] as const;
export type ChannelName = (typeof CHANNEL_NAMES)[number];
const Channel = Type.Unsafe<ChannelName>({ type: 'string', enum: [...CHANNEL_NAMES] });

export interface Party {
  readonly kind: 'user' | 'service_key' | 'link';
  readonly id?: string;
  readonly name?: string;
  readonly email?: string;
  readonly recipient?: string;
  readonly client?: string;
}

export const Party = Type.Unsafe<Party | null>({
  type: ['object', 'null'],
  description: 'A person, a service key or the recipient of a link; null: unknown, or no one.',
  properties: {
    kind: { type: 'string', enum: ['user', 'service_key', 'link'] },
    id: { type: 'string', description: 'usr_… or key_…' },
    name: { type: 'string' },
    email: { type: 'string', description: 'Verified, in lower case.' },
    recipient: { type: 'string', description: 'The address a link was sent to.' },
    client: { type: 'string', description: 'Name and version of the MCP client that acted for the person.' },
  },
  required: ['kind'],
});

/** An answer that counts until the question is decided. */
export type Vote = Static<typeof Vote>;
const Vote = Type.Object({
  by: Party,
  at: Time,
  channel: Channel,
  comment: Type.Optional(Type.String()),
  answer: Type.Optional(AnyJson),
});

export type Question = Static<typeof Question>;
export const Question = Type.Object({
  id: Type.String(),
  step: Type.String(),
  prompt: Type.String(),
  details: Type.Optional(Type.String()),
  show: Type.Array(Type.Object({ path: Type.String(), value: AnyJson })),
  form: Type.Unsafe<JsonObject>({ type: 'object', description: 'JSON Schema 2020-12 of the answer.' }),
  asked_at: Time,
  deadline_at: Time,
  to: Type.Optional(
    Type.Array(Type.String(), { description: 'Addresses and roles that may answer; absent: every member.' }),
  ),
  not_starter: Type.Optional(Type.Boolean({ description: 'The person who started the run may not answer.' })),
  needs: Type.Optional(
    Type.Object(
      { count: Type.Integer(), on: Type.Array(Type.String()) },
      { description: 'Decided once this many different people gave the same answer in these fields; none: in all.' },
    ),
  ),
  votes: Type.Optional(Type.Array(Vote, { description: 'With needs: the present answer of each person.' })),
  assignee: Type.Optional(Type.String({ description: 'usr_…, or the one address that is asked.' })),
  delegations: Type.Optional(Type.Array(Type.Object({ from: Party, to: Party, at: Time }))),
  escalated: Type.Optional(
    Type.Object({ at: Time, to: Type.Array(Type.String()) }, { description: 'Since then these may answer too.' }),
  ),
});

/** The question of a run in device mode: only holders of its content key can read the rest. */
const SealedQuestion = Type.Object({
  id: Type.String(),
  step: Type.String(),
  sealed: Sealed,
  asked_at: Time,
  deadline_at: Time,
});

/** `sealed`: the other fields are absent but for id, step and times. */
export const AnyQuestion = Type.Unsafe<Question & { readonly sealed?: Sealed }>({ anyOf: [SealedQuestion, Question] });

export type Receipt = Static<typeof Receipt>;
export const Receipt = Type.Object({
  question_id: Type.String(),
  step: Type.String(),
  prompt: Type.String({ description: 'Its first 500 characters.' }),
  asked_at: Time,
  answered_at: Time,
  by: Party,
  channel: Channel,
  comment: Type.Optional(Type.String()),
  answer: Type.Optional(Type.Unsafe<JsonValue>({ description: 'Absent if it has more than 4,096 characters.' })),
  form_sha256: Type.Optional(Type.String({ description: 'Hex, of the form’s canonical JSON (RFC 8785).' })),
  version_sha256: Type.Optional(Type.String({ description: 'Hex, of the source that asked.' })),
  votes: Type.Optional(Type.Array(Vote, { description: 'With needs: the people who decided.' })),
});
