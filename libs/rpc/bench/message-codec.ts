// Measures the cost of encoding and decoding, a message at a time: the codec of this package beside the library's.
// Usage: node --import tsx libs/rpc/bench/message-codec.ts [seconds a case=1]
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { RunStatus, StepStatus } from '@methods/proto/run/v1/run_pb';
import { ExchangeRequestSchema, ExchangeResponseSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { WorkRequestSchema, WorkResponseSchema } from '@methods/proto/worker/v1/worker_service_pb';
import { decoder, encoder } from '../src/message-codec.ts';

const seconds = Number(process.argv[2] ?? 1);
const RUN_ID = 'run_01K9ZC4T6Q8W2E5R7Y9V1B3N5M' as const;
const TOKEN = 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4';

function view(steps: number) {
  return {
    runId: RUN_ID,
    method: 'wf_add' as const,
    versionId: 'ver_3' as const,
    status: RunStatus.SUCCEEDED,
    attempts: 1,
    maxAttempts: 5,
    timing: {
      createdAtMs: 1_763_000_000_000,
      startedAtMs: 1_763_000_000_002,
      finishedAtMs: 1_763_000_000_010,
      queuedMs: 2,
      runningMs: 8,
      stateSinceMs: 1_763_000_000_010,
    },
    steps: Array.from({ length: steps }, (_, i) => ({
      path: steps === 1 ? 'add' : `each[${i}].add`,
      kind: 'node',
      status: StepStatus.SUCCEEDED,
      attempt: 1,
      startedAtMs: 1_763_000_000_003 + i,
      finishedAtMs: 1_763_000_000_005 + i,
      runningMs: 2,
    })),
    resultJson: '{"sum":42}',
    revision: 4,
  };
}

const once = <Desc extends DescMessage>(desc: Desc, init: MessageInitShape<Desc>) => ({ desc, init });
const CASES = {
  start: once(ExchangeRequestSchema, {
    items: [
      {
        callId: 17,
        deadlineMs: 10_000,
        requestId: 'req_01K9ZC4T6Q8W2E5R7Y9V1B3N5M',
        item: {
          case: 'start',
          value: {
            orgId: 'org_1' as const,
            method: 'wf_add',
            versionId: 'ver_3',
            inputsJson: '{"a":40,"b":2}',
            requestDigest: new Uint8Array(32).fill(7),
            keyId: 'key_1' as const,
            needs: ['node'],
          },
        },
      },
    ],
  }),
  push: once(ExchangeResponseSchema, { items: [{ callId: 17, item: { case: 'push', value: view(1) } }] }),
  record: once(WorkRequestSchema, {
    items: [
      {
        item: {
          case: 'stepRecord',
          value: { runId: RUN_ID, token: TOKEN, seq: 2, step: view(1).steps[0], outJson: '{"sum":42}' },
        },
      },
    ],
  }),
  ack: once(WorkResponseSchema, { items: [{ item: { case: 'ack', value: { runId: RUN_ID, seq: 2, token: TOKEN } } }] }),
  'view of 30,000 steps': once(ExchangeResponseSchema, {
    items: [{ callId: 17, item: { case: 'run', value: { run: view(30_000) } } }],
  }),
};

function microseconds(work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  const until = performance.now() + seconds * 1_000;
  let count = 1;
  while (performance.now() < until) {
    const before = process.cpuUsage();
    for (let i = 0; i < count; i++) work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / count);
    if (user + system < 20_000) count *= 2;
  }
  return best;
}

const row = (...cells: (string | number)[]) =>
  console.log(cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : cell).padStart(22)).join(''));
row('microseconds', 'bytes', 'encode, library', 'encode', 'decode, library', 'decode');
for (const [name, { desc, init }] of Object.entries(CASES) as [string, ReturnType<typeof once<DescMessage>>][]) {
  const bytes = Buffer.from(toBinary(desc, create(desc, init)));
  const encode = encoder(desc);
  const decode = decoder(desc);
  row(
    name,
    String(bytes.length),
    microseconds(() => toBinary(desc, create(desc, init))),
    microseconds(() => encode(init)),
    microseconds(() => fromBinary(desc, bytes, { readUnknownFields: false, recursionLimit: 32 })),
    microseconds(() => decode(bytes)),
  );
}
