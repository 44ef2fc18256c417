// A code step in a test, without a run around it: a real pool of runners, a folder, and the step's outcome.
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@methods/base/clock';
import type { CodeStep } from '@methods/method/compiled-method';
import type { JsonValue } from '@methods/method/json';
import { runCodeStep } from './code-step.ts';
import { CountedRunners } from './counted-runners.fixture.ts';
import { NO_SANDBOX } from './isolation.ts';
import { PLAIN_ENVIRONMENT } from './prepared-environment.ts';
import { RunFolder } from './run-folder.ts';
import type { CheckRecord, StepLog } from './run-outcome.ts';
import { RunStop } from './run-stop.ts';
import type { RunnerPoolOptions } from './runner-pool.ts';
import { createMask } from './secrets/mask.ts';
import type { StepContext } from './step-context.ts';
import { StepFailure } from './step-failure.ts';

export interface CodeEnd {
  readonly returned: JsonValue | undefined;
  readonly failure: StepFailure | null;
  readonly checks: readonly CheckRecord[];
  readonly log: StepLog | null;
}

export class CodeHarness {
  private serial = 0;

  private constructor(
    readonly dir: string,
    readonly runners: CountedRunners,
  ) {}

  static async start(options: Partial<RunnerPoolOptions> = {}): Promise<CodeHarness> {
    const dir = await realpath(await mkdtemp(join(tmpdir(), 'code-harness-')));
    const path = '/usr/local/bin:/usr/bin:/bin';
    const isolation = NO_SANDBOX;
    const runners = new CountedRunners({ folder: dir, runnersMax: 4, path, clock: systemClock, isolation, ...options });
    runners.start();
    return new CodeHarness(dir, runners);
  }

  async stop(): Promise<void> {
    await this.runners.stop();
    await rm(this.dir, { recursive: true, force: true });
  }

  /** Each step gets its own version unless `versionId` is given. Never rejects for a step's failure. */
  async run(step: CodeStep, more: Partial<StepContext> = {}): Promise<CodeEnd> {
    const runId = `run_${++this.serial}` as const;
    const secrets = more.secrets ?? new Map();
    const context: StepContext = {
      runId,
      versionId: `ver_${this.serial}`,
      path: step.name,
      tryNumber: 1,
      lib: {},
      environment: PLAIN_ENVIRONMENT,
      onInput: undefined,
      onLog: undefined,
      onEvent: undefined,
      scope: { inputs: {}, run: { id: runId, started_at: '', version_id: '' }, steps: {} },
      secrets,
      mask: createMask(secrets),
      runners: this.runners,
      fetch,
      folder: RunFolder.create(join(this.dir, 'runs'), runId),
      stop: new RunStop(new AbortController().signal),
      clock: systemClock,
      runTimeLeftMs: null,
      ...more,
    };
    try {
      return await runCodeStep(step, context);
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error;
      return { returned: undefined, failure: error, checks: [], log: null };
    }
  }
}

/**
 * For `sh`, in a step's working folder: leaves a process in its own group. It ends once that process runs its final
 * program: before that its environment cannot be read, and its owner is unknown.
 */
export const LEAVES_GROUP =
  "mkfifo up never; setsid sh -c 'echo > up; read line < never' > /dev/null 2>&1 3>&- & read line < up";
