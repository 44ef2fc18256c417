// Owns the context in which the parts of one test are read.
import type { SourceEntry, SourceNode } from '../source/source-node.ts';
import { isEmptyNode } from '../source/source-node.ts';
import type { MethodContext } from '../structure/step-context.ts';
import type { ObjectType } from '../types/type.ts';
import type { Misfit, ValueFit } from '../types/value-fit.ts';
import type { StepIndex } from './step-index.ts';

export interface TestContext {
  readonly method: MethodContext;
  readonly index: StepIndex;
  readonly fit: ValueFit;
  readonly inputs: ObjectType;
  readonly result: ObjectType;
  /** Declared checks by name; null when code may make more of them at run time. */
  readonly checkNames: ReadonlySet<string> | null;
}

/** The entries of a mapping; none, with M902, when it is something else. They end once enough errors are found. */
export function* entriesOrReport(
  { method: { findings } }: TestContext,
  entry: SourceEntry | undefined,
  path: string,
  hint: string,
): Iterable<SourceEntry> {
  if (!entry || isEmptyNode(entry.value)) return;
  if (entry.value.kind !== 'map') {
    findings.add('M902', `${entry.key} is a mapping`, path, entry.value.range, { hint });
    return;
  }
  for (const inner of entry.value.entries.values()) {
    if (findings.enough) return;
    yield inner;
  }
}

/** The items of a list with their indexes; none, with M902, when it is something else. They end as entries do. */
export function* itemsOrReport(
  { method: { findings } }: TestContext,
  entry: SourceEntry | undefined,
  path: string,
  hint: string,
): Iterable<[index: number, item: SourceNode]> {
  if (!entry || isEmptyNode(entry.value)) return;
  if (entry.value.kind !== 'list') {
    findings.add('M902', `${entry.key} is a list`, path, entry.value.range, { hint });
    return;
  }
  for (const [index, item] of entry.value.items.entries()) {
    if (findings.enough) return;
    yield [index, item];
  }
}

export function reportMisfit(context: TestContext, what: string, misfit: Misfit | undefined): void {
  if (!misfit) return;
  context.method.findings.add('M902', `${what}: ${misfit.message}`, misfit.path, misfit.range, { hint: misfit.hint });
}
