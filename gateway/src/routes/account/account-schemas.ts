// The schemas of the account routes and their shared parts: requests are checked against the schemas, and the API's
// description is generated from them.
import { Type } from 'typebox';
import type { Accounts } from '../../clients/accounts.ts';
import type { MethodRegistry } from '../../clients/method-registry.ts';
import type { OrganizationSettings } from '../../clients/organization-settings.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { Party } from '../methods/method-schemas.ts';
import { PageFields } from '../page-query.ts';

const Closed = { additionalProperties: false } as const;
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const Role = Type.Unsafe<string>({
  type: 'string',
  enum: ['viewer', 'member', 'admin'],
  description: 'viewer reads; member saves, publishes, runs, answers and cancels; admin has keys, settings, members.',
});

export const KeysQuery = Type.Object(
  {
    ...PageFields,
    limit: Type.Optional(Type.Integer({ ...PageFields.limit, description: 'Default: all, at most 1,000.' })),
  },
  Closed,
);

export const KeyParams = Type.Object({ id: Type.String({ description: 'A key id, key_…' }) });
export const MemberParams = Type.Object({ id: Type.String({ description: 'A user id, usr_…' }) });

export const CreateKeyBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    auth_sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'Hex SHA-256 of the ASCII text sk_<auth part>. The key is made by the client and stays there.',
    }),
  },
  {
    ...Closed,
    examples: [{ name: 'Order desk', auth_sha256: '5f78c33274e43fa9de5659265c1d917e25c03722dcb0b8d27db8d5feaa813953' }],
  },
);

export const Key = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: Time,
  created_by: Type.Unsafe<object | null>({ anyOf: [Party, { type: 'null' }] }),
  last_used_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'To the minute.',
  }),
  revoked_at: Time,
});

const WebhookSecret = Type.String({ description: 'whsec_…; shown this once.' });

export const CreatedKey = Type.Object({ key: Key, webhook_secret: WebhookSecret });
export const OneKey = Type.Object({ key: Key });
export const NewWebhookSecret = Type.Object({ webhook_secret: WebhookSecret });

export const GrantContentBody = Type.Object(
  {
    from_key_id: Type.String({ maxLength: 64, description: 'The key whose content part is granted, key_…' }),
    wrapped: Type.String({
      maxLength: 1_366,
      pattern: '^[A-Za-z0-9_-]+$',
      description: 'base64url, at most 1 KiB: the content part of that key, sealed with that of the key in the path.',
    }),
    from_auth_sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'Of the key whose content part was wrapped: the grant is refused if that is not from_key_id.',
      }),
    ),
  },
  { ...Closed, examples: [{ from_key_id: 'key_01hzy3k9q8m2n4p6r8s0t2v4w6', wrapped: 'AQkx3…' }] },
);

export const GrantedContent = Type.Object({ key_id: Type.String(), from_key_id: Type.String() });

export const Whoami = Type.Object(
  {
    user: Type.Object({ id: Type.String(), email: Type.String(), name: Type.String() }),
    role: Role,
    organization: Type.Object({ id: Type.String(), name: Type.String() }),
    organizations: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
      description:
        'The organization of the request, then the others that the browser is signed in to: each has its own address, /o/<id>/api/…. Of a token: the one it names.',
    }),
    credential: Type.Unsafe<string>({ type: 'string', enum: ['machine_token', 'mcp_token', 'session'] }),
  },
  { description: 'The caller, and the organization it acts in.' },
);

const settingsFields = {
  content_on_devices: Type.Boolean({ description: 'Plain content of runs is refused with device_mode_required.' }),
  retention_days: Type.Integer({ minimum: 1, maximum: 3_650, description: 'How long finished runs are kept.' }),
  webhook_hosts: Type.Array(Type.String({ minLength: 1, maxLength: 254 }), {
    maxItems: 100,
    description: 'Hosts webhooks may go to; *.example.com means every name below example.com. Empty: any.',
  }),
  time_zone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The zone in which mails and pages show times: a name of the IANA database, like Europe/Vienna.',
  }),
};

export const Settings = Type.Object(settingsFields);

export const ChangeSettingsBody = Type.Partial(Type.Object(settingsFields), {
  ...Closed,
  examples: [{ retention_days: 90, webhook_hosts: ['hooks.example.com', '*.shop.example.com'] }],
});

export const Member = Type.Object({
  id: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean({ description: 'Only people with a verified address get mail.' }),
  name: Type.String(),
  role: Role,
  created_at: Time,
  last_seen_at: Time,
  disabled_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When an admin ended their access, for good.',
  }),
});

export const ChangeMemberBody = Type.Object({ role: Role }, { ...Closed, examples: [{ role: 'viewer' }] });

export const ListQuery = Type.Object(PageFields, Closed);

export const AuditQuery = Type.Object(
  {
    ...PageFields,
    action: Type.Optional(Type.String({ maxLength: 64, description: 'For example key.revoke.' })),
    target: Type.Optional(Type.String({ maxLength: 128, description: 'The id of the target.' })),
    by: Type.Optional(Type.String({ maxLength: 128, description: 'The id of who did it: usr_…, key_… or upl_….' })),
    after: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339; at this time or later.' })),
    before: Type.Optional(Type.String({ maxLength: 64, description: 'RFC 3339; earlier than this.' })),
  },
  Closed,
);

const Facts = Type.Unsafe<object | null>({
  type: ['object', 'null'],
  description: 'The target before or after the act; null where there was nothing, or is nothing any more.',
});

export const AuditLine = Type.Object({
  id: Type.String(),
  at: Time,
  by: Party,
  ip: Type.String(),
  request_id: Type.String(),
  client: Type.Optional(Type.String({ description: 'Name and version of the MCP client, as it reports them.' })),
  action: Type.String(),
  target: Type.Object({ kind: Type.String(), id: Type.String() }),
  before: Facts,
  after: Facts,
});

/** The parts that the routes of accounts share. */
export interface AccountRouteParts {
  readonly accounts: Pick<Accounts, 'sessionMember' | 'memberChanged'>;
  readonly registryCalls: RegistryCalls;
  readonly registry: MethodRegistry;
  readonly settings: OrganizationSettings;
}

/** Returns a route's entry in the description of the API. */
export function described(operationId: string, summary: string) {
  return { operationId, summary, tags: ['organization'] };
}
