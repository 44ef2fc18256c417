// The schemas of the run routes: requests are checked against them, and the API's description is generated from them.
import type { QuestionId } from '@methods/base/ids';
import { WEBHOOK_URL_LENGTH_MAX } from '@methods/webhook-url/check-webhook-url';
import { type Static, Type } from 'typebox';
import { Question, Receipt } from './question-schemas.ts';

const Closed = { additionalProperties: false } as const;

const WAIT_MS_MAX = 60_000;
/** Of the text beside an answer. */
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
export const AnswerQuery = Type.Object({ wait_ms: WaitQuery.properties.wait_ms }, Closed);

export const StartRunBody = Type.Object(
  {
    method: Type.String({ description: 'A method id, wf_… or bare.' }),
    inputs: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'Checked against the version; default {}.' }),
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
      Type.Unsafe<'account'>({
        type: 'string',
        enum: ['account'],
        description: 'Where inputs and results are kept: account, the default, with the organization’s account here.',
      }),
    ),
    answer_by: Type.Optional(
      Type.Unsafe<'application' | 'team'>({
        type: 'string',
        enum: ['application', 'team'],
        description: 'Default: application with a webhook_url, else team.',
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
      description: "Checked against the question's form.",
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

const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
const Ms = Type.Integer({ minimum: 0 });
const AnyJson = Type.Unsafe<unknown>({});
const RunStatus = Type.Unsafe<string>({
  type: 'string',
  enum: ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'],
});

const Step = Type.Object({
  name: Type.String({ description: "The step's path." }),
  kind: Type.String(),
  status: Type.Unsafe<string>({
    type: 'string',
    enum: ['pending', 'running', 'waiting', 'succeeded', 'failed', 'skipped', 'cancelled'],
  }),
  attempt: Type.Integer({ description: '0: kept from the run that this one repeats.' }),
  timing: Type.Object({ started_at: Time, finished_at: Time, running_ms: Ms, waiting_ms: Ms }),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      phase: Type.String(),
      status: Type.Unsafe<string>({ type: 'string', enum: ['passed', 'failed', 'warned'] }),
      message: Type.String(),
    }),
  ),
  error: Type.Optional(
    Type.Object({
      kind: Type.String(),
      message: Type.String(),
      status: Type.Optional(Type.Integer({ description: 'HTTP status.' })),
      line: Type.Optional(Type.Integer({ description: "Line of the method's source." })),
      reason: Type.Optional(Type.String({ description: 'The reason sent with the HTTP status, if any.' })),
      headers: Type.Optional(
        Type.Record(Type.String(), Type.String(), { description: 'Headers of the HTTP response that explain it.' }),
      ),
      body: Type.Optional(Type.String({ description: 'The first KiB of the HTTP response, without secrets.' })),
    }),
  ),
});

export const Run = Type.Object(
  {
    run_id: Type.String(),
    method: Type.String(),
    version_id: Type.String(),
    status: RunStatus,
    attempts: Type.Integer(),
    max_attempts: Type.Integer(),
    run_data: Type.Unsafe<string>({ type: 'string', enum: ['account'] }),
    answer_by: Type.Unsafe<string>({ type: 'string', enum: ['application', 'team'] }),
    metadata: Type.Record(Type.String(), Type.String()),
    timing: Type.Object({
      created_at: Time,
      started_at: Time,
      waiting_since: Time,
      finished_at: Time,
      queued_ms: Ms,
      running_ms: Ms,
      waiting_ms: Ms,
    }),
    cancel_requested: Type.Optional(Type.Boolean()),
    queued_reason: Type.Optional(
      Type.Union([Type.Literal('sleeping'), Type.Literal('feature_missing'), Type.Literal('no_worker')], {
        description:
          'Why a queued run is not claimed: its time has not come, no connected worker has the features it needs, or no worker is connected.',
      }),
    ),
    not_before: Type.Optional(Type.String({ format: 'date-time', description: 'When a sleeping run continues.' })),
    steps: Type.Array(Step),
    question: Type.Optional(Question),
    answers: Type.Optional(
      Type.Array(Receipt, { description: 'The newest 100 accepted answers, oldest first; absent: there are none.' }),
    ),
    result: Type.Optional(AnyJson),
    error: Type.Optional(
      Type.Object({
        code: Type.String(),
        kind: Type.Optional(Type.String()),
        message: Type.String(),
        step: Type.Optional(Type.String()),
      }),
    ),
    ending: Type.Optional(
      Type.Object(
        {
          code: Type.String(),
          kind: Type.Optional(Type.String()),
          message: Type.Optional(Type.String()),
          step: Type.Optional(Type.String()),
        },
        { description: 'The run has failed with this error, and its cleanup steps are not done yet.' },
      ),
    ),
  },
  { description: 'A run.' },
);

export const StartedRun = Type.Object(
  { ...Type.Partial(Run).properties, run_id: Type.String(), version_id: Type.String(), status: RunStatus },
  { description: 'The run: its id, version and status, and with wait_ms all of it.' },
);
