// The attempts of one run in a test: acknowledged records are kept as the server keeps them, and an attempt can be
// lost.

import { systemClock } from '@methods/base/clock';
import type { QuestionId } from '@methods/base/ids';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject } from '@methods/method/json';
import { executeRun, type FinishedStep, type RunOptions } from '../execute-run.ts';
import { RunFolder } from '../run-folder.ts';
import type { RunJournal, RunOutcome, StepEnd } from '../run-outcome.ts';
import type { RunnerPool } from '../runner-pool.ts';

/** A method from source text; the text's own lines begin at `steps:`. */
export function methodOf(steps: string, head = 'inputs: {}'): CompiledMethod {
  const source = `format: method/2\nname: walked\n${head}\n${steps}`;
  const { method, diagnostics } = compileMethod(source);
  if (method === null) throw new Error(`${JSON.stringify(diagnostics, null, 1)}\n${source}`);
  return method;
}

export class Attempts {
  readonly finished = new Map<string, FinishedStep>();
  /** Every record in the order it came, over all attempts. */
  readonly records: StepEnd[] = [];
  /** Journal calls until the attempt is lost. */
  private callsLeft = Number.POSITIVE_INFINITY;

  constructor(
    private readonly method: CompiledMethod,
    private readonly options: Partial<RunOptions> = {},
  ) {}

  get paths(): string[] {
    return this.records.map(({ path }) => path);
  }

  record(path: string): StepEnd {
    const found = this.records.findLast((record) => record.path === path);
    if (found === undefined) throw new Error(`no record of ${path}, but of ${this.paths.join(' ')}`);
    return found;
  }

  /** Runs one attempt; `lostAfter`: it is lost at this journal call, counted from 0, which is no longer stored. */
  async run(options: Partial<RunOptions> = {}, lostAfter = Number.POSITIVE_INFINITY): Promise<RunOutcome> {
    this.callsLeft = lostAfter;
    const outcome = await executeRun({
      runId: 'run_1',
      versionId: 'ver_1',
      startedAtMs: 1_700_000_000_000,
      method: this.method,
      inputs: {},
      finished: new Map(this.finished),
      secrets: new Map(),
      journal: this.journal,
      runners: undefined as unknown as RunnerPool,
      fetch,
      folder: RunFolder.create('/nonexistent', 'run_1'),
      signal: new AbortController().signal,
      clock: systemClock,
      ...this.options,
      ...options,
    });
    const { lastRecord } = outcome;
    if (lastRecord !== undefined && this.isHeld()) this.keep(lastRecord);
    return outcome;
  }

  /** With the answer to the question that the run waits for. */
  answer(step: string, value: JsonObject, questionId = 'q_1'): Promise<RunOutcome> {
    return this.run({ answer: { questionId: questionId as QuestionId, step, value } });
  }

  private readonly journal: RunJournal = {
    stepEnded: async (record) => {
      this.isHeldOrThrow();
      this.keep(record);
    },
    stepStarted: async (path, _kind, checkpoint) => {
      this.isHeldOrThrow();
      this.finished.set(path, { status: 'running', out: checkpoint ?? null, withheld: false });
    },
  };

  private isHeld(): boolean {
    return this.callsLeft-- > 0;
  }

  private isHeldOrThrow(): void {
    if (!this.isHeld()) throw new Error('stale_attempt');
  }

  private keep(record: StepEnd): void {
    this.records.push(record);
    const { path, status, withheld, outJson, error } = record;
    const out = outJson === '' ? null : JSON.parse(outJson);
    this.finished.set(path, { status, out, withheld, ...(error && { error }) });
  }
}
