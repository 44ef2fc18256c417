// Runs a method from its start to its end as a worker and a server would together: attempts, answers, sleeping, resumes.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type Clock, systemClock } from '@methods/base/clock';
import { newId, type QuestionId, type RunId } from '@methods/base/ids';
import { executeRun, type FinishedStep } from '@methods/executor/execute-run';
import type { PreparedEnvironment } from '@methods/executor/prepared-environment';
import { RunFolder } from '@methods/executor/run-folder';
import type { RunHarness } from '@methods/executor/run-harness.fixture';
import type { Callee } from '@methods/executor/run-options';
import type { CheckRecord, RunJournal, RunOutcome, RunQuestion, StepEnd } from '@methods/executor/run-outcome';
import type { StepFetch } from '@methods/executor/step-fetch';
import { compileCheck } from '@methods/method/check-value';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject } from '@methods/method/json';
import { withFileReferences } from '@methods/method/types/file-schema';
import type { OutsideWorld } from './outside-world.ts';

const ATTEMPTS_MAX = 50;
/** Pauses between tries and rounds, and waits, are as short as this; deadlines of steps are longer and stay. */
const PAUSE_MS_MAX = 5_000;

export interface GivenFile {
  readonly name: string;
  readonly content: string;
}

/** What every run shares. */
export interface Stage {
  readonly harness: RunHarness;
  readonly world: OutsideWorld;
  readonly web: StepFetch;
}

export interface WholeRunOptions {
  readonly method: CompiledMethod;
  readonly inputs: JsonObject;
  /** Those among the inputs, by name. */
  readonly files?: Readonly<Record<string, GivenFile>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** By the question's path. */
  readonly answers: Readonly<Record<string, JsonObject>>;
  readonly callee: Callee;
  readonly environment?: PreparedEnvironment;
}

export class WholeRun {
  readonly records: StepEnd[] = [];
  /** In the order they were asked. */
  readonly questions: RunQuestion[] = [];
  attempts = 0;
  /** How far the clock was turned while the run slept. */
  sleptMs = 0;
  outcome: RunOutcome = { status: 'stopped' };
  private readonly finished = new Map<string, FinishedStep>();
  private readonly folder: RunFolder;

  private constructor(dir: string, runId: string) {
    this.folder = RunFolder.create(dir, runId);
  }

  static async walk({ harness, world, web }: Stage, runId: string, options: WholeRunOptions): Promise<WholeRun> {
    const run = new WholeRun(harness.dir, runId);
    const inputs = valid(withFileReferences(options.method.inputSchema), run.withFiles(options), 'the inputs');
    let answer: { questionId: QuestionId; step: string; value: JsonObject } | undefined;
    for (; run.attempts < ATTEMPTS_MAX; run.attempts++) {
      const outcome = await executeRun({
        runId: runId as RunId,
        versionId: `ver_${runId}`,
        startedAtMs: systemClock.wallMs(),
        method: options.method,
        inputs,
        finished: new Map(run.finished),
        secrets: new Map(Object.entries(options.secrets)),
        journal: run.journal,
        runners: harness.runners,
        fetch: world.fetchThrough(web.fetch),
        folder: run.folder,
        signal: new AbortController().signal,
        clock: run.clock,
        callee: options.callee,
        ...(options.environment === undefined ? {} : { environment: options.environment }),
        ...(answer === undefined ? {} : { answer }),
      });
      if (outcome.lastRecord !== undefined) run.keep(outcome.lastRecord);
      run.outcome = outcome;
      answer = undefined;
      if (outcome.status === 'waiting') {
        const { question } = outcome;
        run.questions.push(question);
        const value = options.answers[question.step];
        // No answer: the run stays as it is.
        if (value === undefined) return run;
        answer = {
          questionId: `q_${run.questions.length}`,
          step: question.step,
          value: valid(question.form, value, question.step),
        };
      } else if (outcome.status === 'sleeping') {
        run.sleptMs += Math.max(0, outcome.untilMs - run.clock.wallMs());
      } else return run;
    }
    throw new Error(`the run came to no end in ${ATTEMPTS_MAX} attempts`);
  }

  /** @throws where the run did not succeed, with the reason. */
  get result(): JsonObject {
    assert.equal(this.outcome.status, 'succeeded', JSON.stringify(this.outcome, null, 1));
    return this.outcome.status === 'succeeded' ? this.outcome.result : {};
  }

  record(path: string): StepEnd {
    const found = this.records.findLast((record) => record.path === path);
    assert.ok(found, `no record of ${path}, but of ${this.records.map((record) => record.path).join(' ')}`);
    return found;
  }

  get checks(): CheckRecord[] {
    return this.records.flatMap((record) => record.checks);
  }

  /** Absolute path of a file that an out names. */
  filePath(path: string): Promise<string> {
    return this.folder.absolutePath(path);
  }

  /** As the server names them and the worker fetches them. */
  private withFiles({ inputs, files = {} }: Pick<WholeRunOptions, 'inputs' | 'files'>): JsonObject {
    const contents = new Map<string, Buffer>();
    const folder = this.folder.takeInputs((fileId, take) => take(Readable.from([contents.get(fileId)])));
    const given = Object.entries(files).map(([input, { name, content }]): [string, JsonObject | null] => {
      const [fileId, bytes] = [newId('file'), Buffer.from(content)];
      contents.set(fileId, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const media_type = 'application/octet-stream';
      return [input, folder.referenceTo({ file_id: fileId, name, bytes: bytes.length, sha256, media_type })];
    });
    return { ...inputs, ...Object.fromEntries(given) };
  }

  private readonly clock: Clock = {
    wallMs: () => systemClock.wallMs() + this.sleptMs,
    monotonicMs: () => systemClock.monotonicMs(),
    after: (delayMs, run) => systemClock.after(delayMs > PAUSE_MS_MAX ? delayMs : delayMs / 100, run),
  };

  private readonly journal: RunJournal = {
    stepEnded: async (record) => this.keep(record),
    stepStarted: async (path, _kind, checkpoint) => {
      this.finished.set(path, { status: 'running', out: checkpoint ?? null, withheld: false });
    },
  };

  private keep(record: StepEnd): void {
    this.records.push(record);
    const { path, status, withheld, outJson, error } = record;
    const out = outJson === '' ? null : JSON.parse(outJson);
    this.finished.set(path, { status, out, withheld, ...(error === null ? {} : { error }) });
  }
}

/** What the server makes of inputs and answers: defaults filled in; anything that does not fit is a fault of the test. */
function valid(schema: CompiledMethod['inputSchema'], value: JsonObject, what: string): JsonObject {
  const checked = compileCheck(schema)(value);
  assert.ok(checked.ok, `${what} do not fit: ${JSON.stringify(checked)}`);
  return checked.value as JsonObject;
}
