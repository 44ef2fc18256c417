// Runs npm and pip: with only the part of the worker's environment that they need, until a deadline or a signal, again
// when the registry was unavailable, and with failures that name the fault.

import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { systemClock } from '@methods/base/clock';
import { cutText } from '@methods/method/cut-text';
import { GroupReaper } from '../runners/group-reaper.ts';
import { StepFailure } from '../step-failure.ts';
import type { PrepareOptions } from './prepare-options.ts';

interface ManagerCall {
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

/** Returns its stdout. Rejects with a StepFailure of kind dependency. */
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

/** Returns its end and removes it, so that the next try begins a new one. */
async function logOf({ log }: ManagerCall): Promise<string> {
  if (log === undefined) return '';
  const text = await readFile(log, 'utf8').catch(() => '');
  await rm(log, { force: true });
  return text.slice(-LOG_CHARACTERS_READ);
}

/** Ends early when the preparation is stopped. */
function pause(ms: number, { clock = systemClock, signal }: PrepareOptions): Promise<void> {
  return new Promise((resolve) => {
    // Timers of a clock keep no process alive, and a command that runs one method may have nothing else running.
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

// The part of the worker's environment that npm and pip see: their own settings, proxies and certificates. The rest may
// be secrets of methods, which packages' own code could read.

const SETTINGS =
  /^(npm_config_.+|PIP_\w+|https?_proxy|no_proxy|all_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|HOME|USERPROFILE|XDG_(CONFIG_HOME|CONFIG_DIRS|CACHE_HOME)|SYSTEMROOT)$/i;
/** The settings that we set, such as pip's install location. */
const OURS =
  /^(PIP_(TARGET|PREFIX|ROOT|USER|DRY_RUN|REPORT|REQUIREMENT|CONSTRAINT|NO_DEPS|REQUIRE_HASHES|PYTHON|EDITABLE)|npm_config_(global|prefix|dry_run|omit|workspaces?|package_lock(_only)?))$/i;
const CREDENTIAL_NAME = /auth|token|pass|secret|key$/i;
const SHORTEST_MASKED = 4;

/** `home`: HOME if the worker has none. */
export function managerEnvironment({ host, path }: PrepareOptions, home: string): Record<string, string> {
  const settings = [...host].filter(([name]) => SETTINGS.test(name) && !OURS.test(name));
  return { HOME: home, ...Object.fromEntries(settings), PATH: path, LANG: 'C.UTF-8' };
}

/** Removes the credentials of the settings, and those in addresses, from a package manager's output. */
export function withoutCredentials(text: string, host: ReadonlyMap<string, string>): string {
  let masked = text.replace(/(\/\/)[^/@\s]+@/g, '$1***@');
  for (const [name, value] of host) {
    if (!SETTINGS.test(name)) continue;
    const inAddresses = [...value.matchAll(/\/\/(?:[^/@:\s]*:)?([^/@\s]+)@/g)].map((found) => found[1] ?? '');
    for (const secret of CREDENTIAL_NAME.test(name) ? [value, ...inAddresses] : inAddresses) {
      if (secret.length >= SHORTEST_MASKED) masked = masked.replaceAll(secret, '***');
    }
  }
  return masked;
}

/**
 * Classifies failures of npm and pip: the registry was unavailable, a package is missing, or it does not match the
 * lock.
 */
type ManagerFailure = 'unreachable' | 'not_found' | 'mismatch' | 'other';

const MESSAGE_CHARACTERS_MAX = 600;
const LINES_TOLD = 6;

// pip also reports "No matching distribution" for an index it could not reach, so that is checked first.
const PATTERNS: readonly (readonly [failure: ManagerFailure, pattern: RegExp])[] = [
  ['mismatch', /\bEINTEGRITY\b|DO NOT MATCH THE HASHES|In --require-hashes mode|\bcode EUSAGE\b/],
  [
    'unreachable',
    /\bcode (ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR|E429|E5\d\d)\b/,
  ],
  [
    'unreachable',
    /Retrying \(Retry\(|NewConnectionError|ConnectTimeout|ReadTimeout|Max retries exceeded|too many \d+ error responses|HTTP error (429|5\d\d)|50[0234] (Server|Internal|Bad|Service|Gateway)/,
  ],
  ['not_found', /\bcode (E404|ETARGET|ENOVERSIONS)\b|No matching distribution found/],
];

export function failureIn(output: string): ManagerFailure {
  return PATTERNS.find(([, pattern]) => pattern.test(output))?.[0] ?? 'other';
}

/** The missing package, such as `stripe@17.5.0`, where the output names one. */
export function missingPackageIn(output: string): string | null {
  const found =
    /'([^'\n]+)' is not in this registry/.exec(output) ??
    /No matching version found for (\S+?)\.?(?:\s|$)/.exec(output) ??
    /No matching distribution found for (\S+)/.exec(output) ??
    /The requested resource '([^'\n]+)'/.exec(output);
  return found?.[1] ?? null;
}

/** Returns the lines with the error; else the last ones. One line, bounded. */
export function reasonIn(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const told = lines.filter(
    (line) => /^(npm (error|ERR!) .|ERROR:)/.test(line) && !/complete log|-debug-|logs-max/.test(line),
  );
  const last = told.length > 0 ? told.slice(0, LINES_TOLD) : lines.filter((line) => line !== '').slice(-LINES_TOLD);
  const text = last.map((line) => line.replace(/^(npm (error|ERR!)|ERROR:)\s*/, '')).join(' · ');
  return text.length > MESSAGE_CHARACTERS_MAX ? `${cutText(text, MESSAGE_CHARACTERS_MAX)}…` : text;
}

/** One run of a package manager: a process group that ends with its deadline, its signal or this process. */
interface ManagerEnd {
  /** Null: it was ended, or could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  /** The end of its output on stderr. */
  readonly stderr: string;
}

interface ManagerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const STDOUT_BYTES_MAX = 16 * 1024 * 1024;
const STDERR_BYTES_KEPT = 64 * 1024;

/** Never rejects. Output beyond 16 MiB ends the process. */
function runManager({ command, args, cwd, env }: ManagerCommand, signal: AbortSignal): Promise<ManagerEnd> {
  return new Promise((resolve) => {
    // Called first, so that a killed worker never leaves the group running.
    const reaper = new GroupReaper(env.PATH ?? '');
    const child = spawn(command, [...args], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    if (child.pid !== undefined) reaper.started(child.pid);
    const kill = () => {
      // In its own group, so that scripts of packages end too.
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    };
    const stdout: Buffer[] = [];
    let stdoutBytes = 0;
    let stderr = Buffer.alloc(0);
    child.stdout.on('data', (chunk: Buffer) => {
      stdoutBytes += chunk.length;
      if (stdoutBytes > STDOUT_BYTES_MAX) kill();
      else stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-STDERR_BYTES_KEPT);
    });
    // Processes that it left running hold its pipes open, and `close` would never come.
    child.once('exit', kill);
    const end = (code: number | null) => {
      signal.removeEventListener('abort', kill);
      if (child.pid !== undefined) reaper.ended(child.pid);
      void reaper.stop();
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: stderr.toString() });
    };
    child.once('error', () => end(null));
    child.once('close', end);
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill, { once: true });
  });
}
