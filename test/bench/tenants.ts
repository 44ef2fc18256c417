// 50 quiet organizations, each with a run a second, while another one starts as many as it can, and without it. Windows
// in turns; the runs are executed by played workers, so that the service is what the organizations share.
import type { BenchStack } from './bench-stack.ts';
import { startPlayedWorkers } from './bench-workers.ts';
import { type Measurement, measure } from './measure.ts';
import type { WorkloadResult } from './report.ts';
import { quantile, RunCaller } from './run-caller.ts';
import { type Tenant, tenantOf } from './tenant.ts';

const QUIET = 50;
const ROUNDS = 3;
const NOISY_CALLERS = 64;
const NOISY_RUNS = 20_000;
/** The quiet ones by themselves. */
const ABSENT_MS = 10_000;

export async function measureTenants(stack: BenchStack, scale: number): Promise<WorkloadResult> {
  const noisy = await tenantOf(stack, 'noisy');
  const quiet: Tenant[] = [];
  for (let n = 0; n < QUIET; n++) quiet.push(await tenantOf(stack, `quiet-${n}`));
  const played = ({ key, method }: Tenant, slots: number) => ({
    ...{ address: stack.grpcUrl, key, methods: [method], slots, resultJson: '{"sum":2}' },
  });
  const workers = await startPlayedWorkers([played(noisy, 100), ...quiet.map((tenant) => played(tenant, 4))]);
  const callers = quiet.map(({ key, method }) => ({
    method,
    caller: new RunCaller({ ...stack, apiKey: key, methods: {} }, 4),
  }));
  const absent: number[] = [];
  const present: number[] = [];
  const measurements: Measurement[] = [];
  const order = {
    method: noisy.method,
    credential: noisy.key,
    pattern: 'post-wait',
    concurrency: NOISY_CALLERS,
  } as const;
  const noise = (runs: number) =>
    measure(stack, 'the noisy one', { ...order, runs: Math.ceil(runs * scale), nice: 10 });
  await noise(NOISY_RUNS / 10);
  // The first run of each reads its key and its version.
  await Promise.all(callers.map(({ caller, method }) => caller.runOne(method)));
  for (let round = 0; round < ROUNDS; round++) {
    let over = false;
    const pause = new Promise((resolve) => setTimeout(resolve, ABSENT_MS * scale));
    void pause.then(() => {
      over = true;
    });
    absent.push(...(await openLoop(callers, () => over)));
    over = false;
    const noisyRuns = noise(NOISY_RUNS).finally(() => {
      over = true;
    });
    present.push(...(await openLoop(callers, () => over)));
    measurements.push(await noisyRuns);
  }
  await Promise.all(callers.map(({ caller }) => caller.close()));
  await workers.stop();
  const [without, beside] = [quantile(absent, 0.99), quantile(present, 0.99)];
  const times = (figures: readonly number[]) =>
    `p50 ${quantile(figures, 0.5).toFixed(1)} ms, p99 ${quantile(figures, 0.99).toFixed(1)} ms of ${figures.length}`;
  return {
    measurements,
    notes: [
      `${QUIET} quiet organizations, the noisy one absent: ${times(absent)}`,
      `${QUIET} quiet organizations beside the noisy one: ${times(present)}`,
      `p99 beside it is ${(beside / without).toFixed(1)} times that without it (goal: at most 2)`,
    ],
  };
}

/** Each organization starts a run a second, at moments of its own, however long the earlier ones take. */
async function openLoop(
  callers: readonly { readonly method: string; readonly caller: RunCaller }[],
  over: () => boolean,
): Promise<number[]> {
  const runs: Promise<number>[] = [];
  const beganMs = performance.now();
  for (let n = 0; !over(); n++) {
    const dueMs = beganMs + (n * 1_000) / callers.length;
    await new Promise((resolve) => setTimeout(resolve, dueMs - performance.now()));
    const { caller, method } = callers[n % callers.length] as (typeof callers)[number];
    runs.push(caller.runOne(method));
  }
  return Promise.all(runs);
}
