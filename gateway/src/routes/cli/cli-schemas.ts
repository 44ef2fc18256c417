// The schemas of the command line's routes. Here `workflow` is a method's source text and `workflow_id` its id:
// existing programs know only these names.
import type { MethodId, VersionId } from '@methods/base/ids';
import { Type } from 'typebox';
import { DisplayName, Source } from '../methods/method-schemas.ts';

const Closed = { additionalProperties: false } as const;
const SEQUENCE_MAX = 4_294_967_295;

export const CliVersionQuery = Type.Object(
  { version: Type.Optional(Type.String({ maxLength: 64, description: 'A version id, ver_…; default: the current.' })) },
  Closed,
);

export const CliCreateBody = Type.Object(
  {
    workflow: Source,
    request_id: Type.String({
      maxLength: 200,
      description:
        'A UUID, the idempotency key: kept until the answer is known, and sent again after an uncertain one.',
    }),
    display_name: Type.Optional(DisplayName),
  },
  {
    ...Closed,
    examples: [{ workflow: 'format: method/2\n…', request_id: '7d1f0c3a-5a43-4c66-9d2b-0f6f6e1f8a10' }],
  },
);

export const CliSaveBody = Type.Object(
  {
    workflow: Source,
    base_version: Type.Unsafe<VersionId | ''>({
      type: 'string',
      maxLength: 64,
      description: 'The version the change was made upon; empty for a method without one.',
    }),
    reason: Type.String({ maxLength: 2_000 }),
  },
  {
    ...Closed,
    examples: [
      { workflow: 'format: method/2\n…', base_version: 'ver_01hzy3k9q8m2n4p6r8s0t2v4w6', reason: 'Ask before sending' },
    ],
  },
);

export const RunRecordParams = Type.Object({ id: Type.String({ description: "The client's own run id, run_…" }) });

export const RunRecordBody = Type.Object(
  {
    workflow_id: Type.Unsafe<MethodId>(Type.String({ maxLength: 64 })),
    version_id: Type.Unsafe<VersionId>(
      Type.String({ maxLength: 64, description: 'The saved version whose bytes were run.' }),
    ),
    sequence: Type.Integer({ minimum: 0, maximum: SEQUENCE_MAX, description: 'Grows with every record of a run.' }),
    inspection: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Kept as it is.' }),
  },
  {
    ...Closed,
    examples: [
      {
        workflow_id: '01hzy3k9q8m2n4p6r8s0t2v4w6',
        version_id: 'ver_01hzy3k9q8m2n4p6r8s0t2v4w6',
        sequence: 1,
        inspection: { status: 'succeeded' },
      },
    ],
  },
);

export const KeptRunRecord = Type.Object({ run_id: Type.String(), sequence: Type.Integer() });

export const Unchanged = { type: 'null', description: 'If-None-Match names the source: the caller has it.' } as const;
