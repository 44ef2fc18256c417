// A run as the API shows it, whole and in a list. The gateway describes the API with it, and clients take its type.
import { type Static, Type } from 'typebox';
import { AnyQuestion, Party, Receipt } from './question.ts';
import { AnyJson, Sealed, Time } from './value.ts';

const Ms = Type.Integer({ minimum: 0 });
const STATUSES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof STATUSES)[number];
const RunStatus = Type.Unsafe<RunStatus>({ type: 'string', enum: [...STATUSES] });

const STEP_STATUSES = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'skipped', 'cancelled'] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export type Step = Static<typeof Step>;
const Step = Type.Object({
  name: Type.String({ description: "The step's path." }),
  kind: Type.String(),
  status: Type.Unsafe<StepStatus>({ type: 'string', enum: [...STEP_STATUSES] }),
  attempt: Type.Integer({ description: '0: kept from the run that this one repeats.' }),
  timing: Type.Object({ started_at: Time, finished_at: Time, running_ms: Ms, waiting_ms: Ms }),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      phase: Type.String(),
      status: Type.Unsafe<string>({ type: 'string', enum: ['passed', 'failed', 'warned'] }),
      message: Type.String(),
      sealed: Type.Optional(Sealed),
    }),
  ),
  error: Type.Optional(
    Type.Object({
      kind: Type.String(),
      message: Type.String(),
      sealed: Type.Optional(Sealed),
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

export type Run = Static<typeof Run>;
export const Run = Type.Object(
  {
    run_id: Type.String(),
    method: Type.String(),
    version_id: Type.String(),
    status: RunStatus,
    attempts: Type.Integer(),
    max_attempts: Type.Integer(),
    run_data: Type.Unsafe<string>({ type: 'string', enum: ['account', 'device'] }),
    content_id: Type.Optional(Type.String({ description: 'Of a run in device mode, as its start named it.' })),
    answer_by: Type.Unsafe<string>({ type: 'string', enum: ['application', 'team'] }),
    started_by: Type.Optional(Party),
    metadata: Type.Record(Type.String(), Type.String()),
    rerun_of: Type.Optional(Type.String({ description: 'The run that this one repeats.' })),
    timing: Type.Object({
      created_at: Type.String({ format: 'date-time' }),
      started_at: Time,
      waiting_since: Time,
      finished_at: Time,
      queued_ms: Ms,
      running_ms: Ms,
      waiting_ms: Ms,
    }),
    cancel_requested: Type.Optional(Type.Boolean()),
    queued_reason: Type.Optional(
      Type.Unsafe<'sleeping' | 'feature_missing' | 'key_missing' | 'no_worker'>({
        type: 'string',
        enum: ['sleeping', 'feature_missing', 'key_missing', 'no_worker'],
        description:
          'Why a queued run is not claimed: its time has not come, no connected worker has the features it needs, none has its content key, or no worker is connected.',
      }),
    ),
    not_before: Type.Optional(Type.String({ format: 'date-time', description: 'When a sleeping run continues.' })),
    steps: Type.Array(Step),
    question: Type.Optional(AnyQuestion),
    answers: Type.Optional(
      Type.Array(Receipt, { description: 'The newest 100 accepted answers, oldest first; absent: there are none.' }),
    ),
    result: Type.Optional(AnyJson),
    result_at: Type.Optional(
      Type.Unsafe<'worker'>({
        type: 'string',
        enum: ['worker'],
        description: 'Of a run in device mode that succeeded: the result is on the machine of its worker only.',
      }),
    ),
    error: Type.Optional(
      Type.Object({
        code: Type.String(),
        kind: Type.Optional(Type.String()),
        message: Type.String(),
        sealed: Type.Optional(Sealed),
        step: Type.Optional(Type.String()),
      }),
    ),
    ending: Type.Optional(
      Type.Object(
        {
          code: Type.String(),
          kind: Type.Optional(Type.String()),
          message: Type.Optional(Type.String()),
          sealed: Type.Optional(Sealed),
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
