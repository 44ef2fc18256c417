// The shapes of the method routes: requests are checked against them, and the API's description is made of them.
import type { UploadId, VersionId } from '@methods/base/ids';
import { Type } from 'typebox';
import { PageFields } from '../page-query.ts';
import { Finding } from '../reply-schemas.ts';

const Closed = { additionalProperties: false } as const;

const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] });

export const MethodParams = Type.Object({ id: Type.String({ description: 'A method id, bare or wf_…' }) });

export const VersionParams = Type.Object({
  id: Type.String({ description: 'A method id, bare or wf_…' }),
  version_id: Type.String({ description: 'A version id, ver_…' }),
});

export const CreationParams = Type.Object({
  sha256: Type.String({ description: 'SHA-256 of an idempotency key’s UTF-8 bytes, 64 lower-case hex digits.' }),
});

export const IdempotencyKey = Type.String({
  minLength: 8,
  maxLength: 200,
  description: 'One for each logical request, kept until its answer is known. A repeat gets what the first one made.',
});

export const DisplayName = Type.String({ minLength: 1, maxLength: 200 });

export const Source = Type.String({ description: 'The exact text, at most 256 KiB of UTF-8.' });

const EXAMPLE_SOURCE =
  "format: method/2\nname: greet\nsteps:\n  - name: hello\n    node: |\n      return { text: 'Hello' };\n    out: { text: text }\n";

export const CreateMethodBody = Type.Object(
  {
    idempotency_key: IdempotencyKey,
    display_name: Type.Optional(DisplayName),
    source: Type.Optional(Source),
    agent_prompt: Type.Optional(
      Type.String({ minLength: 1, description: 'At most 64 KiB; by itself or with a source.' }),
    ),
    upload_id: Type.Optional(
      Type.Unsafe<UploadId>(
        Type.String({ maxLength: 64, description: 'A finished upload, upl_…; without a source or a prompt.' }),
      ),
    ),
  },
  { ...Closed, examples: [{ idempotency_key: 'create-greet-0001', source: EXAMPLE_SOURCE }] },
);

export const ChangeMethodBody = Type.Object(
  {
    display_name: Type.Optional(DisplayName),
    agent_prompt: Type.Optional(Type.String({ description: 'At most 64 KiB; an empty one takes it away.' })),
    offer_to_agents: Type.Optional(
      Type.Boolean({
        description:
          'Whether MCP clients get the published version as a tool of its own, `run_<name>`: at most 100 methods. Only ' +
          'admins change it, in a request without other fields.',
      }),
    ),
  },
  { ...Closed, examples: [{ display_name: 'Greet a customer' }] },
);

export const SaveVersionBody = Type.Object(
  {
    source: Source,
    base_version: Type.Unsafe<VersionId | ''>({
      type: 'string',
      maxLength: 64,
      description: 'The version that the change was made upon; empty for a method without one.',
    }),
    reason: Type.String({ maxLength: 2_000, description: 'Why, for those who read the list of versions.' }),
  },
  {
    ...Closed,
    examples: [
      { source: EXAMPLE_SOURCE, base_version: 'ver_01hzy3k9q8m2n4p6r8s0t2v4w6', reason: 'Greet in two languages' },
    ],
  },
);

export const PublishBody = Type.Object(
  { version_id: Type.Unsafe<VersionId>(Type.String({ maxLength: 64, description: 'ver_…' })) },
  { ...Closed, examples: [{ version_id: 'ver_01hzy3k9q8m2n4p6r8s0t2v4w6' }] },
);

export const ValidateBody = Type.Object({ source: Source }, { ...Closed, examples: [{ source: EXAMPLE_SOURCE }] });

export const ListQuery = Type.Object(
  {
    ...PageFields,
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^[^\\u0000]*$',
        description:
          'Part of the display name. A page with it looks at 20,000 methods: it may hold fewer than `limit`, even none, ' +
          'while `next_cursor` is there.',
      }),
    ),
  },
  Closed,
);

export const VersionsQuery = Type.Object(PageFields, Closed);

export const Party = Type.Object({
  kind: Type.Unsafe<string>({ type: 'string', enum: ['user', 'service_key', 'upload', 'system'] }),
  id: Type.String(),
  name: Type.String({ description: 'Empty if it is no longer known.' }),
});

export const Method = Type.Object(
  {
    id: Type.String(),
    production_id: Type.String({ description: 'wf_<id>, as runs and webhooks name it.' }),
    display_name: Type.String(),
    status: Type.Unsafe<string>({ type: 'string', enum: ['building', 'ready', 'failed'] }),
    format: Type.String(),
    current_version: TextOrNull,
    published_version: TextOrNull,
    available_records: Type.Array(
      Type.Unsafe<string>({ type: 'string', enum: ['source', 'agent_prompt', 'recording'] }),
    ),
    build: Type.Unsafe<object | null>({
      type: ['object', 'null'],
      description: 'Only of a method made from a recording.',
      properties: {
        state: { type: 'string', enum: ['queued', 'running', 'succeeded', 'failed'] },
        attempts: { type: 'integer' },
        error: { type: ['string', 'null'] },
      },
    }),
    offered_to_agents: Type.Boolean({ description: 'Its published version is a tool of its own of MCP clients.' }),
    created_at: Time,
    updated_at: Time,
    created_by: Party,
  },
  { description: 'A method.' },
);

export const Warnings = Type.Array(Finding);

const JsonSchema = Type.Unsafe<object>({ type: 'object', description: 'JSON Schema 2020-12.' });

const versionFields = {
  method_id: Type.String(),
  version_id: Type.String(),
  schema_version: Type.String({ description: 'method/2, workflow/2 or workflow/1' }),
  sha256: Type.String({ description: 'Of the exact UTF-8 bytes of the source.' }),
  reason: Type.String(),
  created_at: Time,
  created_by: Party,
  published_at: Time,
  published_by: Type.Unsafe<object | null>({ anyOf: [Party, { type: 'null' }] }),
  secrets: Type.Array(Type.String(), { description: 'Names of the declared secrets.' }),
  features: Type.Array(Type.String()),
  lock_sha256: TextOrNull,
};

export const VersionInList = Type.Object(versionFields);

/** The fields that only the source of a version has. */
const interfaceFields = {
  inputs: Type.Optional(JsonSchema),
  result_schema: Type.Optional(JsonSchema),
  questions: Type.Optional(
    Type.Array(
      Type.Object({
        step: Type.String({ description: "The step's path." }),
        title: Type.Optional(Type.String()),
        form: JsonSchema,
        timeout_ms: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
      }),
    ),
  ),
  dependencies: Type.Optional(Type.Unsafe<object>({ type: 'object' })),
};

export const SourceVersion = Type.Object(
  { ...versionFields, ...interfaceFields, source: Source },
  { description: 'A version with its source. A workflow/1 source does not describe its inputs and results.' },
);

export const CallerMethod = Type.Object(
  {
    method: Type.String({ description: 'wf_…, as runs name it.' }),
    display_name: Type.String(),
    status: Type.Unsafe<string>({ type: 'string', enum: ['building', 'ready', 'failed'] }),
    current_version: TextOrNull,
    published_version: TextOrNull,
    versions: Type.Array(Type.Object({ version_id: Type.String(), created_at: Time, published_at: Time }), {
      description: 'The newest 50, the newest first.',
    }),
    version_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The version that the fields below are about; null: the method has none yet.',
    }),
    schema_version: Type.Optional(Type.String()),
    secrets: Type.Optional(Type.Array(Type.String(), { description: 'Names of the declared secrets.' })),
    ...interfaceFields,
  },
  { description: 'What a caller of a method needs.' },
);

export const CreatedMethod = Type.Object({ method: Method, created: Type.Boolean(), warnings: Warnings });

export const SavedVersion = Type.Object({
  method_id: Type.String(),
  version_id: Type.String(),
  sha256: Type.String(),
  schema_version: Type.String(),
  created: Type.Boolean(),
  warnings: Warnings,
});

export const Validation = Type.Object({
  ok: Type.Boolean({ description: 'No diagnostic is an error.' }),
  diagnostics: Type.Array(Finding),
});

export const AgentPrompt = Type.Object({ agent_prompt: TextOrNull });

export const FoundCreation = Type.Object({
  found: Type.Boolean(),
  method: Type.Unsafe<object | null>({ anyOf: [Method, { type: 'null' }] }),
});

export function pageOf(items: ReturnType<typeof Type.Object>) {
  return Type.Object({ items: Type.Array(items), next_cursor: TextOrNull });
}
