// Runs npm and pip: with only the part of the worker's environment they need, again when the registry was unavailable,
// and with failures that name the fault.
import { readFile, rm } from 'node:fs/promises';
import { systemClock } from '@methods/base/clock';
import { StepFailure } from '../step-failure.ts';
import { managerEnvironment, withoutCredentials } from './manager-environment.ts';
import { failureIn, type ManagerFailure, missingPackageIn, reasonIn } from './manager-failure.ts';
import { type ManagerEnd, runManager } from './manager-process.ts';
import type { PrepareOptions } from './prepare-options.ts';

export interface ManagerCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Its task, for the message when it fails: `npm could not …`. */
  readonly what: string;
  /** A file with more details than stderr. */
  readonly log?: string;
}

const RUN_MS_MAX = 15 * 60_000;
const LOG_CHARACTERS_READ = 256 * 1024;
/** Pauses before the registry is asked again. */
const PAUSES_MS = [1_000, 5_000, 15_000];

/** Its stdout. Rejects with a StepFailure of kind dependency. */
export async function callManager(call: ManagerCall, options: PrepareOptions): Promise<string> {
  const { signal } = options;
  const env = managerEnvironment(options, call.cwd);
  for (let tried = 0; ; tried++) {
    const deadline = AbortSignal.timeout(RUN_MS_MAX);
    const either = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
    const end = await runManager({ ...call, env }, either);
    if (end.code === 0) return end.stdout;
    if (signal?.aborted) throw new StepFailure('dependency', `${call.what}: it was stopped`);
    if (deadline.aborted) throw new StepFailure('dependency', `${call.what} within ${RUN_MS_MAX / 60_000} minutes`);
    const failure = failureIn(end.stderr + (await logOf(call)));
    const pauseMs = PAUSES_MS[tried];
    if (pauseMs === undefined || failure !== 'unreachable') throw failureOf(failure, call, end, options);
    await pause(pauseMs, options);
  }
}

function failureOf(
  failure: ManagerFailure,
  { what, command }: ManagerCall,
  { code, stderr }: ManagerEnd,
  { host }: PrepareOptions,
): StepFailure {
  const reason = withoutCredentials(reasonIn(stderr), host);
  const said = reason === '' ? `${command} ended with ${code ?? 'a signal'}` : reason;
  switch (failure) {
    case 'unreachable':
      return new StepFailure('dependency', `${what}: the registry could not be reached: ${said}`);
    case 'not_found': {
      const name = missingPackageIn(stderr);
      return new StepFailure('dependency', `M703: ${name === null ? 'a package' : name} was not found: ${said}`);
    }
    case 'mismatch':
      return new StepFailure('dependency', `M704: a package is not as the version's lock says: ${said}`);
    case 'other':
      return new StepFailure('dependency', `${what}: ${said}`);
  }
}

/** Its end; removed, so that the next try begins a new one. */
async function logOf({ log }: ManagerCall): Promise<string> {
  if (log === undefined) return '';
  const text = await readFile(log, 'utf8').catch(() => '');
  await rm(log, { force: true });
  return text.slice(-LOG_CHARACTERS_READ);
}

/** Ends early when the preparation is stopped. */
function pause(ms: number, { clock = systemClock, signal }: PrepareOptions): Promise<void> {
  return new Promise((resolve) => {
    // Timers of a clock keep no process alive, and a command that runs one method may have nothing else.
    const alive = setInterval(() => {}, 2 ** 30);
    const end = () => {
      timer.cancel();
      clearInterval(alive);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}
