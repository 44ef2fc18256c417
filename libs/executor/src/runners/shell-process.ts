// Runs one shell step as bash in a fresh process of its own. The step's values are environment variables, its replies
// come from the command `step` over file descriptor 3, and its exit code decides how it ended.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeBlock } from '@methods/method/compiled-method';
import { cutText } from '@methods/method/cut-text';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { isFileShaped } from '../files/file-value.ts';
import { StepFailure } from '../step-failure.ts';
import { ChildGroup } from './child-group.ts';
import { ExchangeFolder } from './exchange-folder.ts';
import type { ProcessWatch } from './process-watch.ts';
import { deathFailure, type Runner, type RunnerOptions } from './runner.ts';
import type { RunnerJob, RunnerReply } from './runner-job.ts';
import { launchOf, stepUserOf } from './runner-launch.ts';
import { type RunnerError, readRunnerMessage } from './runner-protocol.ts';
import { asStepFailure, collectFiles, FILES_FAILED, RunningStep } from './running-step.ts';

export class ShellProcess implements Runner {
  sinceMs: number;
  readonly readyMs: number;
  /** Ready at once: the process starts with its step. */
  readonly isStarting = false;
  readonly warm = null;
  /** No other step waits for its process. */
  readonly isComputing = false;
  private readonly folder: ExchangeFolder;
  private child: ChildGroup | null = null;
  private current: RunningStep | null = null;
  private readonly out: Record<string, JsonValue> = {};
  private error: RunnerError | null = null;
  /** Where the shell's own trap saw a command fail. */
  private line: number | undefined;
  private retired = false;

  constructor(
    job: RunnerJob,
    private readonly options: RunnerOptions,
    private readonly watch: ProcessWatch,
  ) {
    this.sinceMs = options.clock.monotonicMs();
    this.readyMs = this.sinceMs;
    this.folder = new ExchangeFolder(options.folder, job.environment.nodePath, stepUserOf(options));
  }

  run(job: RunnerJob, done: (reply: RunnerReply) => void): void {
    const { clock } = this.options;
    this.current = new RunningStep(1, job, done, clock, (failure) => this.end(failure));
    this.sinceMs = this.current.startedMs;
    try {
      this.child = new ChildGroup(this.launch(job), clock, {
        onLine: (line) => this.onLine(line),
        onOverflow: () => this.end(new StepFailure('limit', 'The step sent more than a message may hold')),
        onPrint: (source, chunk) => this.current?.print(source, chunk),
        onGone: (code, signal) => void this.onGone(code, signal),
      });
    } catch (error) {
      this.settle(undefined, asStepFailure(error, 'A process for the step could not be started'));
      this.leave();
      return;
    }
    const { pid } = this.child;
    if (pid === undefined) return;
    this.options.onSpawned(pid);
    this.child.write('\n');
    this.watch.add(this, pid, job.memoryMb);
  }

  has(job: RunnerJob): boolean {
    return this.current?.job === job;
  }

  end(failure: StepFailure): void {
    this.settle(undefined, failure);
    this.retire();
    if (this.child === null) this.leave();
    else this.child.terminate();
  }

  async kill(failure = new StepFailure('internal', 'The worker stops')): Promise<void> {
    this.settle(undefined, failure);
    this.retire();
    if (this.child === null) this.leave();
    else await this.child.kill();
  }

  private launch(job: RunnerJob): ReturnType<typeof launchOf> {
    const { folder } = this;
    const given = { values: job.values, paths: new Set(job.files) };
    const { values, paths } =
      this.options.isolation.level === 'sandbox' ? folder.withFiles(job.values, job.files) : given;
    const env = {
      ...shellVariables(job.names, values, paths),
      STEP_NAME: job.step,
      STEP_KEY: job.key,
      STEP_TRY: String(job.tryNumber),
      STEP_IN: folder.writeValues(job.names, values),
      STEP_DIR: folder.workDir,
    };
    writeFileSync(join(folder.codeDir, `${job.step}.sh`), onItsLines({ code: job.code, line: job.codeLine }));
    writeFileSync(join(folder.codeDir, 'lib.sh'), job.lib === null ? '' : onItsLines(job.lib));
    return launchOf(job, folder, this.options, { env });
  }

  private onLine(line: string): void {
    const { current } = this;
    const message = current === null ? null : readRunnerMessage(line, undefined);
    if (current === null || message === null) return;
    if (message.t === 'log' || message.t === 'progress' || message.t === 'check') current.take(message);
    else if (message.t === 'out') Object.assign(this.out, message.value);
    else if (message.t === 'line') this.line = message.line;
    else if (message.t === 'error') this.error = message.error;
  }

  private async onGone(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    const { current } = this;
    if (current !== null) {
      current.stopTimer();
      const failure = this.failure(current.job, code, signal);
      let out: JsonValue = this.out;
      let fault: StepFailure | null = failure;
      if (failure === null && namesFile(out)) {
        try {
          const { workDir } = this.folder;
          // What the step started may outlive its shell.
          out = await collectFiles(current.job, out, workDir, this.child?.endOthers(workDir) ?? true);
        } catch (error) {
          fault = asStepFailure(error, FILES_FAILED);
        }
      }
      this.settle(fault === null ? out : undefined, fault);
    }
    this.retire();
    this.leave();
  }

  private failure(job: RunnerJob, code: number | null, signal: NodeJS.Signals | null): StepFailure | null {
    if (code === 0) return null;
    const { line } = this;
    const { error } = this;
    const stderr = this.child?.stderrTail ?? '';
    if (error !== null) {
      return new StepFailure(error.kind, error.message, { ...(line === undefined ? {} : { line }), ...error });
    }
    if (code === null) return deathFailure(code, signal, stderr, job.memoryMb);
    return shellFault(job.step, code, job.masked(stderr), line);
  }

  private settle(out: JsonValue | undefined, failure: StepFailure | null): void {
    const { current } = this;
    if (current === null) return;
    this.current = null;
    this.watch.remove(this);
    current.settle(out, failure);
  }

  private retire(): void {
    if (this.retired) return;
    this.retired = true;
    this.options.onRetired(this);
  }

  private leave(): void {
    this.retire();
    this.options.onExit(this, this.child?.pid, this.folder.workDir);
    this.folder.remove();
  }
}

/**
 * Adds as many line breaks before the code as it has lines before it in the source, so that messages name the source's
 * lines.
 */
function onItsLines({ code, line }: CodeBlock): string {
  return `${'\n'.repeat(line - 1)}${code}\n`;
}

function namesFile(out: JsonObject): boolean {
  return Object.values(out).some((value) => isJsonObject(value) && typeof value.$file === 'string');
}

// Explains why a shell step ended with an exit code: bash's output names the line, and shows whether bash could parse
// the code.

const LAST_LINE_CHARACTERS_MAX = 500;
const LAST_LINE_KEPT_MAX = 4000;

/**
 * `line`: where a command failed, as reported by the shell's trap. `stderr`: the end of the output, already masked: a
 * secret could not be found in a single line of it.
 */
function shellFault(step: string, code: number, stderr: string, line: number | undefined): StepFailure {
  const place = new RegExp(`\\.\\./code/(?:${step}|lib)\\.sh: line (\\d+): (.*)`, 'g');
  for (const [, at, message = ''] of stderr.matchAll(place)) {
    if (/^(syntax error|unexpected EOF)/.test(message)) return new StepFailure('syntax', message, { line: Number(at) });
  }
  const last = [...stderr.matchAll(place)].at(-1);
  const told = line ?? (last === undefined ? undefined : Number(last[1]));
  const lines = stderr.trim().split('\n');
  // Drops the rest of a line whose beginning was not kept: it could be a part of a secret.
  const end = lines.length === 1 && stderr.length > LAST_LINE_KEPT_MAX ? '' : (lines.at(-1) ?? '');
  const shown = cutText(end.replace(/^\.\.\/code\/\w+\.sh: line \d+: /, ''), LAST_LINE_CHARACTERS_MAX);
  const message = `The step ended with exit code ${code}${shown === '' ? '' : `: ${shown}`}`;
  return new StepFailure('exit', message, { code, ...(told === undefined ? {} : { line: told }) });
}

// Converts the values of a shell step to environment variables.

/** Longer values exist only in the file `$STEP_IN`. */
const VARIABLE_BYTES_MAX = 64 * 1024;
/** For all together; the system refuses to start a process with much more. */
const VARIABLES_BYTES_MAX = 1024 * 1024;

/**
 * `files`: the paths under which the worker provides files. Text is kept, files become their path, null becomes empty,
 * other values become JSON. Throws a StepFailure of kind input.
 */
function shellVariables(
  names: readonly string[],
  values: readonly JsonValue[],
  files: ReadonlySet<string>,
): Record<string, string> {
  const variables: Record<string, string> = {};
  let bytesTotal = 0;
  for (const [i, name] of names.entries()) {
    const text = variableText(values[i] ?? null, files);
    if (text.includes('\0')) {
      throw new StepFailure(
        'input',
        `The value of ${name} contains a NUL character, which an environment variable cannot hold`,
      );
    }
    const bytes = Buffer.byteLength(text);
    if (bytes > VARIABLE_BYTES_MAX || bytesTotal + bytes > VARIABLES_BYTES_MAX) continue;
    bytesTotal += bytes;
    variables[name] = text;
  }
  return variables;
}

function variableText(value: JsonValue, files: ReadonlySet<string>): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (isFileShaped(value) && files.has(value.path)) return value.path;
  return JSON.stringify(value);
}
