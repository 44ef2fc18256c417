// Runs one version of a method: walks its steps from the top, keeps the finished ones, runs the others. It knows no
// scheduler; step records go to a journal, and the way the walk ended is returned.
import type { Clock } from '@methods/base/clock';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { evaluate, type Scope } from '@methods/method/evaluate';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { questionOf } from './ask-step.ts';
import { declaredSecrets } from './declared-secrets.ts';
import { RecordKeeper } from './record-keeper.ts';
import type { RunFolder } from './run-folder.ts';
import type { RunError, RunJournal, RunOutcome, StepEnd } from './run-outcome.ts';
import { resultOf } from './run-result.ts';
import { RunStop } from './run-stop.ts';
import type { RunnerPool } from './runner-pool.ts';
import type { StepContext } from './step-context.ts';
import { failureOf, StepRecorder } from './step-record.ts';

/** A step that ended in an earlier attempt, as the server acknowledged it. */
export interface FinishedStep {
  readonly status: 'succeeded' | 'skipped' | 'failed';
  readonly out: JsonValue;
  /** Its out held a secret and was not stored: a step that succeeded so runs again. */
  readonly withheld: boolean;
}

export interface RunOptions {
  readonly runId: string;
  readonly versionId: string;
  readonly startedAtMs: number;
  readonly method: CompiledMethod;
  readonly inputs: JsonObject;
  readonly finished: ReadonlyMap<string, FinishedStep>;
  /** The accepted answer to the question this run waited for. */
  readonly answer?: { readonly questionId: string; readonly step: string; readonly value: JsonObject };
  /** The secrets of the worker's environment; more than the method declares do no harm. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly journal: RunJournal;
  readonly runners: RunnerPool;
  readonly fetch: typeof fetch;
  readonly folder: RunFolder;
  /** Cancelled, lost or stale: the present step is ended and nothing more is recorded. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Never rejects for anything a method, its steps or its servers do. */
export async function executeRun(options: RunOptions): Promise<RunOutcome> {
  const secrets = declaredSecrets(options.method, options.secrets);
  if ('code' in secrets) return { status: 'failed', error: secrets };
  const stop = new RunStop(options.signal);
  try {
    const walk = new Walk(options, stop, secrets.values, new StepRecorder(options.clock, secrets.mask));
    const outcome = await walk.toItsEnd();
    return stop.stopped ? { status: 'stopped' } : outcome;
  } finally {
    stop.release();
  }
}

class Walk {
  private readonly records: RecordKeeper;
  private readonly outs: Record<string, JsonValue> = {};
  private readonly scope: Scope;
  private readonly startedMs: number;

  constructor(
    private readonly options: RunOptions,
    private readonly stop: RunStop,
    private readonly secrets: ReadonlyMap<string, string>,
    private readonly recorder: StepRecorder,
  ) {
    const { runId, versionId, startedAtMs, inputs, journal, clock } = options;
    const run = { id: runId, started_at: new Date(startedAtMs).toISOString(), version_id: versionId };
    this.scope = { inputs, run, steps: this.outs };
    this.records = new RecordKeeper(journal);
    this.startedMs = clock.monotonicMs();
  }

  async toItsEnd(): Promise<RunOutcome> {
    const { method, finished, answer } = this.options;
    for (const step of method.steps) {
      if (this.stop.stopped) return { status: 'stopped' };
      const kept = finished.get(step.name);
      if (kept?.status === 'failed') return this.failed(failedEarlier(step.name));
      if (kept && !(kept.withheld && kept.status === 'succeeded')) {
        this.outs[step.name] = kept.status === 'skipped' ? null : kept.out;
        continue;
      }
      let wanted: boolean;
      try {
        wanted = step.condition === undefined || evaluate(step.condition, this.scope) === true;
      } catch (error) {
        return this.ended(this.recorder.failed(step, this.recorder.begin(), failureOf(error, step)));
      }
      if (!wanted) {
        this.outs[step.name] = null;
        this.records.add(this.recorder.skipped(step));
      } else if (step.kind !== 'ask') {
        const record = await this.act(step as Parameters<StepRecorder['run']>[0]);
        if (record === null) return { status: 'stopped' };
        if (record.status === 'failed') return this.ended(record);
        this.records.add(record);
      } else if (answer?.step === step.name) {
        this.outs[step.name] = answer.value;
        this.records.add(this.recorder.answered(step, answer.value));
      } else {
        return this.ask(step);
      }
    }
    return this.result();
  }

  /** Runs a step that acts. Null: the run is no longer ours. */
  private async act(step: Parameters<StepRecorder['run']>[0]): Promise<StepEnd | null> {
    const { runId, versionId, method, runners, fetch, folder, clock } = this.options;
    try {
      await this.records.settle();
    } catch {
      return null;
    }
    if (this.stop.stopped) return null;
    const limitMs = method.limits.runTimeoutMs;
    const runTimeLeftMs = limitMs === null ? null : limitMs - (clock.monotonicMs() - this.startedMs);
    const context: StepContext = {
      runId,
      versionId,
      scope: this.scope,
      secrets: this.secrets,
      mask: this.recorder.mask,
      runners,
      fetch,
      folder,
      stop: this.stop,
      clock,
      runTimeLeftMs,
    };
    const { record, value } = await this.recorder.run(step, context);
    if (this.stop.stopped) return null;
    this.outs[step.name] = value;
    return record;
  }

  private ask(step: Parameters<typeof questionOf>[0]): RunOutcome {
    try {
      const question = questionOf(step, this.scope, this.recorder.mask);
      return { status: 'waiting', question, ...this.records.takeLast() };
    } catch (error) {
      return this.ended(this.recorder.failed(step, this.recorder.begin(), failureOf(error, step)));
    }
  }

  private result(): RunOutcome {
    const result = resultOf(this.options.method, this.scope, this.recorder.mask);
    if ('code' in result) return this.failed(result);
    return { status: 'succeeded', result: result.value, ...this.records.takeLast() };
  }

  /** The run fails with this step, whose record was not added yet. */
  private ended(record: StepEnd): RunOutcome {
    this.records.add(record);
    const kind = record.error?.kind ?? 'internal';
    const code = kind === 'check' ? 'check_failed' : 'step_failed';
    return this.failed({ code, kind, message: record.error?.message ?? '', step: record.path });
  }

  private failed(error: RunError): RunOutcome {
    return { status: 'failed', error, ...this.records.takeLast() };
  }
}

/** The attempt that recorded the failure was lost before it could end the run; a failed step never runs again. */
function failedEarlier(step: string): RunError {
  return { code: 'step_failed', kind: 'internal', message: 'The step failed in an earlier attempt', step };
}
