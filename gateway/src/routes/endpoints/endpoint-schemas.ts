// The shapes of the routes of endpoints.
import { type Static, Type } from 'typebox';
import { Party } from '../methods/method-schemas.ts';

const Closed = { additionalProperties: false } as const;
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const Name = Type.String({ minLength: 1, maxLength: 200, description: 'Without @; no two endpoints share one.' });
const Url = Type.String({ minLength: 1, maxLength: 2_048, description: 'https, to a public host.' });
const Format = Type.Unsafe<string>({
  type: 'string',
  enum: ['webhook', 'slack', 'teams'],
  description:
    'webhook sends signed events as to the webhook_url of a run; slack and teams send a message for the chat.',
});
const Events = Type.Array(
  Type.Unsafe<string>({
    type: 'string',
    enum: ['needs_input', 'question.reminded', 'question.escalated', 'succeeded', 'failed', 'cancelled'],
  }),
  { minItems: 1, maxItems: 6, uniqueItems: true, description: 'The events it takes, of all runs.' },
);

export const EndpointParams = Type.Object({ id: Type.String({ description: 'An endpoint id, ep_…' }) });

export const CreateEndpointBody = Type.Object(
  { name: Name, format: Type.Optional(Format), url: Url, events: Events },
  {
    ...Closed,
    examples: [{ name: 'On call', url: 'https://hooks.example.com/methods', events: ['needs_input', 'failed'] }],
  },
);

export const ChangeEndpointBody = Type.Object(
  {
    name: Type.Optional(Name),
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    paused: Type.Optional(Type.Boolean({ description: 'A paused endpoint gets nothing, also not later.' })),
  },
  { ...Closed, examples: [{ paused: true }] },
);

const RotateFields = Type.Object({
  overlap_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 7 * 86_400_000,
      description: 'How long the earlier secret signs too. Default: one day.',
    }),
  ),
});

/** Many clients cannot send a POST without a body, others send none. */
export const RotateEndpointBody = Type.Unsafe<Static<typeof RotateFields> | null | undefined>({
  ...RotateFields,
  ...Closed,
  type: ['object', 'null'],
  examples: [{ overlap_ms: 3_600_000 }],
});

const Endpoint = Type.Object({
  id: Type.String(),
  name: Type.String(),
  format: Format,
  url: Type.String({ description: 'Shortened: of a chat only its host, of a webhook all but the query.' }),
  events: Type.Array(Type.String()),
  paused: Type.Boolean(),
  created_at: Time,
  created_by: Type.Unsafe<object | null>({ anyOf: [Party, { type: 'null' }] }),
  earlier_secret_until: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'Until when a rotated secret signs too; null: none does.',
  }),
});

const Secret = Type.String({ description: 'whsec_…; shown this once.' });

export const Endpoints = Type.Object({ items: Type.Array(Endpoint), next_cursor: Type.Null() });
export const CreatedEndpoint = Type.Object(
  { endpoint: Endpoint, webhook_secret: Type.Optional(Secret) },
  { description: 'A chat has no secret.' },
);
export const OneEndpoint = Type.Object({ endpoint: Endpoint });
export const RotatedEndpoint = Type.Object({ endpoint: Endpoint, webhook_secret: Secret });
