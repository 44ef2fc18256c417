// A run in a test: a real pool of runners, a journal that keeps its records, a temporary folder.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@methods/base/clock';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { CountedRunners } from './counted-runners.fixture.ts';
import { executeRun, type RunOptions } from './execute-run.ts';
import { NO_SANDBOX } from './isolation.ts';
import { RunFolder } from './run-folder.ts';
import type { RunJournal, RunOutcome, StepEnd } from './run-outcome.ts';
import type { RunnerPoolOptions } from './runner-pool.ts';
import { StepFetch } from './step-fetch.ts';

export class RunHarness {
  /** The records in the journal of the last run; see `last` for the record that comes with the outcome. */
  readonly records: StepEnd[] = [];
  readonly journal: RunJournal = {
    stepEnded: async (record) => {
      this.records.push(record);
    },
  };
  private readonly web = new StepFetch();
  private serial = 0;

  private constructor(
    readonly dir: string,
    readonly runners: CountedRunners,
  ) {}

  static async start(options: Partial<RunnerPoolOptions> = {}): Promise<RunHarness> {
    const dir = await mkdtemp(join(tmpdir(), 'run-harness-'));
    const path = '/usr/local/bin:/usr/bin:/bin';
    const runners = new CountedRunners({
      folder: dir,
      runnersMax: 4,
      path,
      clock: systemClock,
      isolation: NO_SANDBOX,
      ...options,
    });
    runners.start();
    return new RunHarness(dir, runners);
  }

  async stop(): Promise<void> {
    await this.runners.stop();
    await this.web.stop();
    await rm(this.dir, { recursive: true, force: true });
  }

  /** Each call is a new run, with its own version unless `versionId` is given. */
  run(method: CompiledMethod, options: Partial<RunOptions> = {}): Promise<RunOutcome> {
    this.records.length = 0;
    const runId = `run_${++this.serial}` as const;
    return executeRun({
      runId,
      versionId: `ver_${this.serial}`,
      startedAtMs: 1_700_000_000_000,
      method,
      inputs: {},
      finished: new Map(),
      secrets: new Map(),
      journal: this.journal,
      runners: this.runners,
      fetch: this.web.fetch,
      folder: RunFolder.create(join(this.dir, 'runs'), runId),
      signal: new AbortController().signal,
      clock: systemClock,
      ...options,
    });
  }

  /** Runs, and returns the record of the walk's last step with the outcome. */
  async last(method: CompiledMethod, options: Partial<RunOptions> = {}): Promise<StepEnd> {
    const { lastRecord } = await this.run(method, options);
    if (lastRecord === undefined) throw new Error('the walk left no record');
    return lastRecord;
  }
}
