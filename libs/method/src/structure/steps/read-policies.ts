// Owns `on_error` and `on_interrupt`: what happens to the run when a step fails, and to a step when its worker died.
import type { StepBase } from '../../compiled-method.ts';
import type { Findings } from '../../source/findings.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import { readWord } from '../read-word.ts';

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
