// The shapes of the routes of deliveries.
import { Type } from 'typebox';
import { PageFields } from '../page-query.ts';

const Closed = { additionalProperties: false } as const;
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const Kind = Type.Unsafe<string>({
  type: 'string',
  enum: ['webhook', 'endpoint', 'slack', 'teams', 'mail'],
  description:
    'webhook: to the URL of the run; endpoint, slack and teams: to an endpoint of the organization; mail: to people.',
});
const ENDED = ['delivered', 'exhausted', 'stopped'];
const Status = Type.Unsafe<string>({
  type: 'string',
  enum: ['pending', ...ENDED],
  description:
    'pending: a try is due. delivered: answered with 2xx. exhausted: no try is left. stopped: answered with 410, or ' +
    'the endpoint is gone or paused.',
});
const EndpointId = Type.String({ maxLength: 64, description: 'An endpoint id, ep_…' });

export const DeliveryParams = Type.Object({ id: Type.String({ description: 'A delivery id, dlv_…' }) });

export const DeliveriesQuery = Type.Object(
  {
    ...PageFields,
    status: Type.Optional(Status),
    kind: Type.Optional(Kind),
    endpoint: Type.Optional(EndpointId),
    run: Type.Optional(Type.String({ maxLength: 64, description: 'A run id, run_…' })),
  },
  Closed,
);

const Try = Type.Object({
  at: Time,
  duration_ms: Type.Integer(),
  status: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Of the answer; null: there was none.',
  }),
  error: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Why there was no answer, for example timeout, tls_failed or address_not_public.',
  }),
  reply: Type.String({ description: 'The first KiB of the answer.' }),
});

export const Delivery = Type.Object({
  id: Type.String({ description: 'dlv_…; also in the header Service-Delivery.' }),
  run_id: Type.String(),
  seq: Type.Integer({ description: 'Grows within a run.' }),
  event: Type.String(),
  kind: Kind,
  endpoint_id: Type.Optional(Type.String({ description: 'Only of endpoints.' })),
  url: Type.Optional(
    Type.String({
      description:
        'Of a webhook: the URL of the run, without its query. Of a mail: `mailto:` and the address; without one it ' +
        'finds out who is mailed, and its reply says so.',
    }),
  ),
  status: Status,
  created_at: Time,
  next_try_at: Time,
  tries_count: Type.Integer(),
  tries: Type.Array(Try, {
    description: 'Newest last: in a list the newest 6, of one delivery the newest 20.',
  }),
});

export const OneDelivery = Type.Object({ delivery: Delivery });

export const ResendBody = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 200, description: 'Delivery ids, dlv_…' }),
    ),
    status: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ENDED, description: 'All of this status.' })),
    kind: Type.Optional(Kind),
    endpoint: Type.Optional(EndpointId),
    cursor: Type.Optional(Type.String({ maxLength: 200, description: 'next_cursor of the call before.' })),
  },
  { ...Closed, examples: [{ status: 'exhausted', endpoint: 'ep_01jf4q8y2mzx5k7w9r3t6b0c1d' }] },
);

export const Resent = Type.Object({
  ids: Type.Array(Type.String(), { description: 'Those that are on their way now.' }),
  next_cursor: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'With a status: where another call continues; null: there are no more.',
  }),
});
