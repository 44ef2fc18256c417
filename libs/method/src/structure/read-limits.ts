// Owns `limits`: bounds on time and size of the run and of each step, with their defaults.
import type { MethodLimits, StepKind, StepLimits } from '../compiled-method.ts';
import type { Findings } from '../source/findings.ts';
import { isEmptyNode, type SourceMap, type SourceNode } from '../source/source-node.ts';
import { checkKeys, readWord } from './check-keys.ts';
import { durationText } from './duration.ts';
import { type KeyTable, METHOD_LIMIT_KEYS, STEP_LIMIT_KEYS } from './keys.ts';
import { type GivenDuration, readCount, readDuration } from './read-amount.ts';

const DAY_MS = 86_400_000;
const KIB = 1_024;
const MIB = 1_048_576;

/** The values of a `limits` mapping; absent values fall back to the outer limits, then to the kind's defaults. */
export interface GivenLimits {
  readonly timeout?: GivenDuration;
  readonly memoryMb?: number;
  readonly outputKb?: number;
  readonly logKb?: number;
  readonly filesMb?: number;
  readonly runTimeoutMs?: number;
  readonly stepsMax?: number;
  readonly network?: 'open' | 'none';
}

const CODE_TIMEOUT: GivenDuration = { ms: 600_000, text: '10m' };
const HTTP_TIMEOUT: GivenDuration = { ms: 30_000, text: '30s' };
const WAITING = ['timeout', 'timeout_ms'];

/** The limits of a kind: its default deadline, and the keys that have a meaning for it (the others are M111). */
interface KindLimits {
  readonly timeout: GivenDuration | null;
  readonly keys: readonly string[];
}

const CODE: KindLimits = { timeout: CODE_TIMEOUT, keys: STEP_LIMIT_KEYS.keys };
const HTTP: KindLimits = { timeout: HTTP_TIMEOUT, keys: [...WAITING, 'output_kb', 'log_kb', 'files_mb'] };
/** A person or another method takes the time it takes. */
const OPEN: KindLimits = { timeout: null, keys: WAITING };
const NONE: KindLimits = { timeout: null, keys: [] };

const LIMITS: Readonly<Record<StepKind, KindLimits>> = {
  node: CODE,
  python: CODE,
  shell: CODE,
  http: HTTP,
  ask: OPEN,
  call: OPEN,
  wait: NONE,
  check: NONE,
  steps: NONE,
  parallel: NONE,
  browser: CODE,
  agent: CODE,
};

const TIMEOUT = [1, 365 * DAY_MS] as const;

const BOUNDS = {
  timeout_ms: TIMEOUT,
  memory_mb: [32, 65_536],
  output_kb: [1, 1_024],
  log_kb: [1, 16_384],
  files_mb: [1, 10_240],
  max_steps: [1, 10_000],
} as const;

const STEPS_MAX_DEFAULT = 1_000;

/** Reads the method's `limits`. */
export function readMethodLimits(findings: Findings, node: SourceNode | undefined): GivenLimits {
  return node === undefined ? {} : readLimits(findings, node, METHOD_LIMIT_KEYS, 'limits');
}

/** Reads a step's `limits`. */
export function readStepLimits(
  findings: Findings,
  node: SourceNode | undefined,
  kind: StepKind,
  path: string,
): GivenLimits {
  if (node === undefined) return {};
  const given = readLimits(findings, node, STEP_LIMIT_KEYS, path);
  if (node.kind === 'map') {
    for (const { key, keyRange } of node.entries.values()) {
      if (!STEP_LIMIT_KEYS.keys.includes(key) || LIMITS[kind].keys.includes(key)) continue;
      findings.add('M111', `"${key}" has no meaning for ${kind}`, `${path}.${key}`, keyRange, { hint: 'remove it' });
    }
  }
  return given;
}

function readLimits(findings: Findings, node: SourceNode, table: KeyTable, path: string): GivenLimits {
  if (node.kind !== 'map') {
    if (!isEmptyNode(node))
      findings.add('M801', 'limits is a mapping', path, node.range, { hint: 'for example  limits: { timeout: 30s }' });
    return {};
  }
  checkKeys(findings, node, table, path);
  const both = node.entries.get('timeout') && node.entries.get('timeout_ms');
  if (both)
    findings.add('M802', 'timeout is given twice', `${path}.timeout_ms`, both.keyRange, {
      hint: 'keep timeout or timeout_ms',
    });
  const timeoutMs = count(findings, node, 'timeout_ms', path);
  const timeout = readDuration(findings, node.entries.get('timeout'), `${path}.timeout`, TIMEOUT);
  const runTimeout = readDuration(findings, node.entries.get('run_timeout'), `${path}.run_timeout`, TIMEOUT);
  const given: { [K in keyof GivenLimits]: GivenLimits[K] | undefined } = {
    timeout: timeout ?? (timeoutMs === undefined ? undefined : { ms: timeoutMs, text: durationText(timeoutMs) }),
    memoryMb: count(findings, node, 'memory_mb', path),
    outputKb: count(findings, node, 'output_kb', path),
    logKb: count(findings, node, 'log_kb', path),
    filesMb: count(findings, node, 'files_mb', path),
    runTimeoutMs: runTimeout?.ms,
    stepsMax: count(findings, node, 'max_steps', path),
    network: readWord(findings, node.entries.get('network'), `${path}.network`, 'network', ['none', 'open']),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as GivenLimits;
}

function count(findings: Findings, map: SourceMap, key: keyof typeof BOUNDS, path: string): number | undefined {
  return readCount(findings, map.entries.get(key), `${path}.${key}`, key, BOUNDS[key]);
}

/** A step's limits: its own, then the method's (never a deadline where a person or another method is waited for), then the defaults. */
export function resolveStepLimits(kind: StepKind, own: GivenLimits, method: GivenLimits): StepLimits {
  const { timeout: fallback } = LIMITS[kind];
  const outer = fallback === null ? {} : method;
  const timeout = own.timeout ?? outer.timeout ?? fallback;
  return {
    timeoutMs: timeout?.ms ?? null,
    timeoutText: timeout?.text ?? null,
    memoryMb: own.memoryMb ?? outer.memoryMb ?? 1_024,
    outputBytesMax: (own.outputKb ?? outer.outputKb ?? 256) * KIB,
    logBytesMax: (own.logKb ?? outer.logKb ?? 256) * KIB,
    filesBytesMax: (own.filesMb ?? outer.filesMb ?? 100) * MIB,
  };
}

/** False when the step's limits, or else the method's, close the network. */
export function hasNetwork(own: GivenLimits, method: GivenLimits): boolean {
  return (own.network ?? method.network) !== 'none';
}

export function resolveMethodLimits(given: GivenLimits): MethodLimits {
  return { runTimeoutMs: given.runTimeoutMs ?? null, stepsMax: given.stepsMax ?? STEPS_MAX_DEFAULT };
}
