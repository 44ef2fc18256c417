// Owns `limits`: bounds on time and size of the run and of each step, with their defaults.
import type { MethodLimits, StepLimits } from '../compiled-method.ts';
import type { Findings } from '../source/findings.ts';
import { isEmptyNode, type SourceEntry, type SourceMap, type SourceNode } from '../source/source-node.ts';
import { checkKeys } from './check-keys.ts';
import { parseDuration } from './duration.ts';
import { type KeyTable, METHOD_LIMIT_KEYS, STEP_LIMIT_KEYS } from './keys.ts';

const DAY_MS = 86_400_000;
const KIB = 1_024;
const MIB = 1_048_576;

type BuiltKind = 'node' | 'http' | 'ask';

/** What a `limits` mapping says; absent values fall back to the outer limits, then to the kind's defaults. */
export interface GivenLimits {
  readonly timeout?: { readonly ms: number; readonly text: string };
  readonly memoryMb?: number;
  readonly outputKb?: number;
  readonly logKb?: number;
  readonly filesMb?: number;
  readonly runTimeoutMs?: number;
  readonly stepsMax?: number;
}

const DEFAULT_TIMEOUT: Readonly<Record<BuiltKind, { ms: number; text: string } | null>> = {
  node: { ms: 600_000, text: '10m' },
  http: { ms: 30_000, text: '30s' },
  ask: null,
};

// Keys of a step's limits that say something for its kind; the rest is M111.
const USABLE: Readonly<Record<BuiltKind, readonly string[]>> = {
  node: STEP_LIMIT_KEYS.keys,
  http: ['timeout', 'timeout_ms', 'output_kb', 'log_kb', 'files_mb'],
  ask: ['timeout', 'timeout_ms'],
};

const BOUNDS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  timeout_ms: [1, 365 * DAY_MS],
  memory_mb: [32, 65_536],
  output_kb: [1, 1_024],
  log_kb: [1, 16_384],
  files_mb: [1, 10_240],
  max_steps: [1, 10_000],
};

const STEPS_MAX_DEFAULT = 1_000;

/** Reads the method's `limits`. */
export function readMethodLimits(findings: Findings, node: SourceNode | undefined): GivenLimits {
  return node === undefined ? {} : readLimits(findings, node, METHOD_LIMIT_KEYS, 'limits');
}

/** Reads a step's `limits`. */
export function readStepLimits(
  findings: Findings,
  node: SourceNode | undefined,
  kind: BuiltKind,
  path: string,
): GivenLimits {
  if (node === undefined) return {};
  const given = readLimits(findings, node, STEP_LIMIT_KEYS, path);
  if (node.kind === 'map') {
    for (const { key, keyRange } of node.entries.values()) {
      if (!STEP_LIMIT_KEYS.keys.includes(key) || USABLE[kind].includes(key)) continue;
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
  const timeout = duration(findings, node.entries.get('timeout'), `${path}.timeout`, 365 * DAY_MS);
  const runTimeout = duration(findings, node.entries.get('run_timeout'), `${path}.run_timeout`, 365 * DAY_MS);
  const given: { [K in keyof GivenLimits]: GivenLimits[K] | undefined } = {
    timeout: timeout ?? (timeoutMs === undefined ? undefined : { ms: timeoutMs, text: `${timeoutMs}ms` }),
    memoryMb: count(findings, node, 'memory_mb', path),
    outputKb: count(findings, node, 'output_kb', path),
    logKb: count(findings, node, 'log_kb', path),
    filesMb: count(findings, node, 'files_mb', path),
    runTimeoutMs: runTimeout?.ms,
    stepsMax: count(findings, node, 'max_steps', path),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as GivenLimits;
}

function duration(
  findings: Findings,
  entry: SourceEntry | undefined,
  path: string,
  mostMs: number,
): GivenLimits['timeout'] {
  if (!entry) return undefined;
  const node = entry.value;
  const text = node.kind === 'scalar' ? node.text : '';
  const ms = parseDuration(text);
  if (ms === undefined) {
    const hint = /^\d+$/.test(text) ? `write ${text}s, or ${text}ms` : 'write 30s, 5m, 1h30m or 3d';
    findings.add('M801', 'this is not a duration', path, node.range, { hint });
    return undefined;
  }
  if (ms < 1 || ms > mostMs) {
    findings.add('M803', `a duration here is 1ms to ${Math.floor(mostMs / DAY_MS)}d`, path, node.range);
    return undefined;
  }
  return { ms, text };
}

function count(findings: Findings, map: SourceMap, key: string, path: string): number | undefined {
  const entry = map.entries.get(key);
  if (!entry) return undefined;
  const node = entry.value;
  const value = node.kind === 'scalar' ? node.value : undefined;
  const [least, most] = BOUNDS[key] ?? [1, Number.MAX_SAFE_INTEGER];
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  findings.add('M803', `${key} is a whole number from ${least} to ${most}`, `${path}.${key}`, node.range);
  return undefined;
}

/** A step's limits: its own, then the method's (code and http only: never a deadline for `ask`), then the defaults. */
export function resolveStepLimits(kind: BuiltKind, own: GivenLimits, method: GivenLimits): StepLimits {
  const outer = kind === 'ask' ? {} : method;
  const timeout = own.timeout ?? outer.timeout ?? DEFAULT_TIMEOUT[kind];
  return {
    timeoutMs: timeout?.ms ?? null,
    timeoutText: timeout?.text ?? null,
    memoryMb: own.memoryMb ?? outer.memoryMb ?? 1_024,
    outputBytesMax: (own.outputKb ?? outer.outputKb ?? 256) * KIB,
    logBytesMax: (own.logKb ?? outer.logKb ?? 256) * KIB,
    filesBytesMax: (own.filesMb ?? outer.filesMb ?? 100) * MIB,
  };
}

export function resolveMethodLimits(given: GivenLimits): MethodLimits {
  return { runTimeoutMs: given.runTimeoutMs ?? null, stepsMax: given.stepsMax ?? STEPS_MAX_DEFAULT };
}
