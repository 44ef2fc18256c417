// The schemas of questions and of the receipts of their answers, for the API's description.
import { Type } from 'typebox';
import { CHANNEL_NAMES } from '../../views/question-view.ts';

const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const AnyJson = Type.Unsafe<unknown>({});
const Channel = Type.Unsafe<string>({ type: 'string', enum: CHANNEL_NAMES });
export const Party = Type.Unsafe<unknown>({
  type: ['object', 'null'],
  description: 'A person, a service key or the recipient of a link; null: unknown, or no one.',
  properties: {
    kind: { type: 'string', enum: ['user', 'service_key', 'link'] },
    id: { type: 'string', description: 'usr_… or key_…' },
    name: { type: 'string' },
    email: { type: 'string', description: 'Verified, in lower case.' },
    recipient: { type: 'string', description: 'The address a link was sent to.' },
  },
  required: ['kind'],
});

const Vote = Type.Object({
  by: Party,
  at: Time,
  channel: Channel,
  comment: Type.Optional(Type.String()),
  answer: Type.Optional(AnyJson),
});

export const Question = Type.Object({
  id: Type.String(),
  step: Type.String(),
  prompt: Type.String(),
  details: Type.Optional(Type.String()),
  show: Type.Array(Type.Object({ path: Type.String(), value: AnyJson })),
  form: Type.Unsafe<object>({ type: 'object', description: 'JSON Schema 2020-12 of the answer.' }),
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

export const Receipt = Type.Object({
  question_id: Type.String(),
  step: Type.String(),
  prompt: Type.String({ description: 'Its first 500 characters.' }),
  asked_at: Time,
  answered_at: Time,
  by: Party,
  channel: Channel,
  comment: Type.Optional(Type.String()),
  answer: Type.Optional(Type.Unsafe<unknown>({ description: 'Absent if it has more than 4,096 characters.' })),
  form_sha256: Type.Optional(Type.String({ description: 'Hex, of the form’s canonical JSON (RFC 8785).' })),
  version_sha256: Type.Optional(Type.String({ description: 'Hex, of the source that asked.' })),
  votes: Type.Optional(Type.Array(Vote, { description: 'With needs: the people who decided.' })),
});
