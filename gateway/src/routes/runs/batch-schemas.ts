// The schemas of a batch of starts, and its reply, built from the outcomes with a bounded size.
import { StartedRun } from '@methods/api/run';
import { errorBody } from '@methods/errors/error-body';
import type { ServiceError } from '@methods/errors/service-error';
import { Type } from 'typebox';
import { runStatusName, startedRunJson } from '../../views/run-view.ts';
import { Refused } from '../reply-schemas.ts';
import { StartRunBody } from './run-schemas.ts';
import type { AcceptedStart } from './start-steps.ts';

export const BATCH_RUNS_MAX = 1_000;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;

const bounds = { minItems: 1, maxItems: BATCH_RUNS_MAX };

/** For the description of the API. */
export const StartBatchBody = Type.Object(
  { runs: Type.Array(StartRunBody, { ...bounds, description: 'Each is a start as POST …/runs takes it.' }) },
  {
    additionalProperties: false,
    description: `At most ${BATCH_RUNS_MAX} starts and ${BATCH_BYTES_MAX} bytes.`,
    examples: [
      {
        runs: [
          { method: 'wf_01hzy3k9q8m2n4p6r8s0t2v4w6', inputs: { order_id: 'ord_7' }, idempotency_key: 'refund-ord_7' },
          { method: 'wf_01hzy3k9q8m2n4p6r8s0t2v4w6', inputs: { order_id: 'ord_8' }, idempotency_key: 'refund-ord_8' },
        ],
      },
    ],
  },
);

/** Checked for the body as a whole; each start is checked by itself. */
export const BatchOutline = Type.Object({ runs: Type.Array(Type.Unknown(), bounds) }, { additionalProperties: false });

export const StartedBatch = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        status: Type.Integer({
          description:
            '201: started. 200: the key and values had a run. Any other status is that of the same single start.',
        }),
        run: Type.Optional(StartedRun),
        error: Type.Optional(Refused),
        retry_after: Type.Optional(
          Type.Integer({ description: 'With 429 and 503: seconds to wait before this start is repeated.' }),
        ),
      }),
    ),
  },
  { description: 'One outcome for each start, in their order. Some starts may be refused while others succeed.' },
);

/**
 * For the error details of the whole batch. An error beyond the budget has no details; a repeat of that start returns
 * them.
 */
const DETAILS_CHARACTERS_MAX = 1 << 20;

/** Builds the reply of a batch of starts from its outcomes, with a bounded size. */
export class BatchOutcomes {
  private readonly items: string[];
  private detailsLeft = DETAILS_CHARACTERS_MAX;

  constructor(
    count: number,
    private readonly requestId: string,
  ) {
    this.items = new Array<string>(count);
  }

  accepted(n: number, { run, isRepeat }: AcceptedStart): void {
    const status = isRepeat ? runStatusName(run.status) : 'queued';
    this.items[n] = `{"status":${isRepeat ? 200 : 201},"run":${startedRunJson(run, status)}}`;
  }

  refused(n: number, error: ServiceError): void {
    const { status, headers, body } = errorBody(error, this.requestId);
    const retry = headers['retry-after'];
    this.items[n] = `{"status":${status},"error":${this.errorJson(body)}${retry ? `,"retry_after":${retry}` : ''}}`;
  }

  json(): string {
    return `{"items":[${this.items.join(',')}]}`;
  }

  private errorJson(body: { readonly details?: unknown }): string {
    const { details, ...rest } = body;
    if (details === undefined) return JSON.stringify(rest);
    const detailsJson = JSON.stringify(details);
    if (detailsJson.length > this.detailsLeft) return JSON.stringify(rest);
    this.detailsLeft -= detailsJson.length;
    return JSON.stringify(body);
  }
}
