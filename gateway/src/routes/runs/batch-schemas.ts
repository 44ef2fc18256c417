// The schemas of a batch of starts.

import { StartedRun } from '@methods/api/run';
import { Type } from 'typebox';
import { Refused } from '../reply-schemas.ts';
import { StartRunBody } from './run-schemas.ts';

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

/** Checked of the body as a whole; each start is checked by itself. */
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
