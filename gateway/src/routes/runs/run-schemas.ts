// The schemas of requests about runs: requests are checked against them, and the API's description is generated from
// them.
import type { QuestionId } from '@methods/base/ids';
import { INPUT_FILE_LIMITS } from '@methods/method/file-limits';
import { WEBHOOK_URL_LENGTH_MAX } from '@methods/webhook-url/check-webhook-url';
import { type Static, Type } from 'typebox';

const Closed = { additionalProperties: false } as const;

const WAIT_MS_MAX = 60_000;
/** For the text beside an answer. */
const COMMENT_CHARACTERS_MAX = 2_000;

export const RunParams = Type.Object({
  id: Type.String({ description: 'A run id, run_…' }),
});

export const RunFileParams = Type.Object({
  ...RunParams.properties,
  '*': Type.String({
    description: 'The path of a file value, with its slashes; the rest is percent-encoded as UTF-8.',
  }),
});

export const WaitQuery = Type.Object(
  {
    wait_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: WAIT_MS_MAX,
        description: 'Reply when the run finishes or begins to wait, at the latest after this time.',
      }),
    ),
    after_question: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'A question id, q_…: continue to wait while the run waits on this question.',
      }),
    ),
  },
  Closed,
);

/** Such a request waits past the question that it answers. */
/** For people. */
export const UserRunQuery = Type.Object(
  {
    ...WaitQuery.properties,
    steps: Type.Optional(
      Type.Unsafe<'false'>({
        type: 'string',
        enum: ['false'],
        description: 'Leaves out the steps, which a run may have 30,000 of: list them by /steps.',
      }),
    ),
  },
  Closed,
);

export const AnswerQuery = Type.Object({ wait_ms: WaitQuery.properties.wait_ms }, Closed);

export const StartRunBody = Type.Object(
  {
    method: Type.String({ description: 'A method id, wf_… or bare.' }),
    inputs: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'Checked against the version; default {}. With device: {"$sealed": …}.',
      }),
    ),
    version: Type.Optional(Type.String({ description: '"published" (default) or a version id, ver_…' })),
    idempotency_key: Type.Optional(
      Type.String({ minLength: 8, maxLength: 200, description: 'The same key and values return the same run.' }),
    ),
    webhook_url: Type.Optional(
      Type.String({
        maxLength: WEBHOOK_URL_LENGTH_MAX,
        description: `https, at most ${WEBHOOK_URL_LENGTH_MAX} characters.`,
      }),
    ),
    run_data: Type.Optional(
      Type.Unsafe<'account' | 'device'>({
        type: 'string',
        enum: ['account', 'device'],
        description:
          'Where inputs and results are kept: account, the default, with the organization’s account here; device, only sealed here. Device needs content_id, sealed inputs, and a service key.',
      }),
    ),
    content_id: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description: 'With device: 16 random bytes in hex, made by the client. Unique in the organization.',
      }),
    ),
    files: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: INPUT_FILE_LIMITS.filesMax,
        description: 'With device: the ids of the sealed files that the inputs name, which the run keeps.',
      }),
    ),
    files_of: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'With device, in place of files: a run whose files the inputs name, run_….',
      }),
    ),
    answer_by: Type.Optional(
      Type.Unsafe<'application' | 'team'>({
        type: 'string',
        enum: ['application', 'team'],
        description: 'Default: application with a webhook_url, else team.',
      }),
    ),
    rerun_of: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'The run that this one repeats with other inputs or another version, run_…. Each shows the other.',
      }),
    ),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        maxProperties: 32,
        // A map of a decoded message cannot hold the name __proto__ and would lose it silently.
        propertyNames: { minLength: 1, maxLength: 64, not: { const: '__proto__' } },
        additionalProperties: { type: 'string', maxLength: 512 },
      }),
    ),
  },
  {
    ...Closed,
    examples: [
      { method: 'wf_01hzy3k9q8m2n4p6r8s0t2v4w6', inputs: { order_id: 'ord_7' }, idempotency_key: 'refund-ord_7' },
    ],
  },
);

const RerunFields = Type.Object({
  idempotency_key: Type.Optional(
    Type.String({ minLength: 8, maxLength: 200, description: 'The same key and values return the same new run.' }),
  ),
  from_step: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'A step of the method, not one inside another step: the new run keeps the results of the steps before it from the first run, which has finished, and begins there.',
    }),
  ),
});

/** No body is the same as `{}`: many clients cannot send a POST without a body. */
export const RerunRunBody = Type.Unsafe<Static<typeof RerunFields> | null | undefined>({
  ...RerunFields,
  ...Closed,
  type: ['object', 'null'],
  examples: [{ idempotency_key: 'again-refund-ord_7', from_step: 'notify' }],
});

export const AnswerRunBody = Type.Object(
  {
    answer: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description:
        'Checked against the question\'s form. In device mode: {"$sealed": …}, checked by the worker, and no comment.',
    }),
    question_id: Type.Optional(
      Type.Unsafe<QuestionId>(Type.String({ maxLength: 64, description: 'Default: the open question.' })),
    ),
    comment: Type.Optional(
      Type.String({ maxLength: COMMENT_CHARACTERS_MAX, description: 'Kept with the answer, for people.' }),
    ),
  },
  {
    ...Closed,
    examples: [{ answer: { decision: 'approve' }, question_id: 'q_01hzy3k9q8m2n4p6r8s0t2v4w6' }],
  },
);
