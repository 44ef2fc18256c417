// Owns `on_error`, `on_interrupt` and `retry`: what happens when a step fails, and to a step when its worker died.
import type { Retry, StepBase } from '../../compiled-method.ts';
import type { Findings } from '../../source/findings.ts';
import type { SourceEntry, SourceMap } from '../../source/source-node.ts';
import { checkKeys, readWord } from '../check-keys.ts';
import { RETRY_KEYS } from '../keys.ts';
import { readCount, readDuration, readNumber } from '../read-amount.ts';
import type { ValuePlace } from '../read-value.ts';
import type { MethodContext } from '../step-context.ts';

const ON_ERROR = ['fail', 'continue'] as const;
const ON_INTERRUPT = ['rerun', 'fail', 'ask'] as const;

export function readOnError(findings: Findings, entry: SourceEntry | undefined, path: string): StepBase['onError'] {
  return readWord(findings, entry, `${path}.on_error`, 'on_error', ON_ERROR) ?? 'fail';
}

export function readOnInterrupt(
  findings: Findings,
  entry: SourceEntry | undefined,
  path: string,
): StepBase['onInterrupt'] {
  return readWord(findings, entry, `${path}.on_interrupt`, 'on_interrupt', ON_INTERRUPT) ?? 'rerun';
}

// `retry`: how often a failed try is made again, after which pause, and for which failures.

const TRIES_MAX = 20;
const DAY_MS = 86_400_000;
const DELAY_MS = 1_000;
const FACTOR = 2;
const MAX_DELAY_MS = 60_000;

/** Reads `retry`, a number or a mapping; null with a finding. `place` has the root `error`. */
export function readRetry(context: MethodContext, entry: SourceEntry, path: string, place: ValuePlace): Retry | null {
  const { findings, values } = context;
  const node = entry.value;
  if (node.kind !== 'map') {
    const triesMore = readCount(
      findings,
      entry,
      path,
      'retry',
      [0, TRIES_MAX],
      'write  retry: 3  or  retry: { max: 3 }',
    );
    return triesMore === undefined ? null : retry({ triesMore });
  }
  checkKeys(findings, node, RETRY_KEYS, path);
  if (!node.entries.has('max'))
    findings.add('M102', 'retry needs max', path, entry.keyRange, { hint: 'for example  retry: { max: 3 }' });
  const condition = node.entries.get('if');
  const read = condition && values.expression(condition.value, `${path}.if`, place, 'condition');
  return retry({
    triesMore: readCount(findings, node.entries.get('max'), `${path}.max`, 'max', [0, TRIES_MAX]),
    factor: readNumber(findings, node.entries.get('factor'), `${path}.factor`, 'factor', [1, 10]),
    ...readDelays(findings, node, path),
    condition: read?.expression ?? null,
  });
}

function readDelays(findings: Findings, node: SourceMap, path: string) {
  const duration = (key: string) => readDuration(findings, node.entries.get(key), `${path}.${key}`, [0, DAY_MS])?.ms;
  return { delayMs: duration('delay'), maxDelayMs: duration('max_delay') };
}

function retry(given: { readonly [K in keyof Retry]?: Retry[K] | undefined }): Retry {
  const delayMs = given.delayMs ?? DELAY_MS;
  return {
    triesMore: given.triesMore ?? 0,
    delayMs,
    factor: given.factor ?? FACTOR,
    // A first pause longer than the usual bound is meant as it is written.
    maxDelayMs: given.maxDelayMs ?? Math.max(delayMs, MAX_DELAY_MS),
    condition: given.condition ?? null,
  };
}
