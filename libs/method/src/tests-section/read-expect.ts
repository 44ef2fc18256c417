// Owns what a test expects of its run: its end, its result, the skipped steps, and checks of its own.
import type { TestExpectation } from '../compiled-method.ts';
import { hintNearest } from '../source/did-you-mean.ts';
import { jsonOf, type SourceEntry, type SourceMap } from '../source/source-node.ts';
import { checkKeys, readWord } from '../structure/check-keys.ts';
import { type MethodContext, placeOf } from '../structure/step-context.ts';
import { readChecks } from '../structure/steps/read-checks.ts';
import { afterScope } from '../structure/steps/step-scope.ts';
import type { Field, ObjectType } from '../types/type.ts';
import { entriesOrReport, itemsOrReport, type TestContext } from './test-context.ts';
import { EXPECT_KEYS, STATUSES } from './test-keys.ts';

const NOTHING: TestExpectation = {
  status: null,
  result: null,
  skipped: [],
  failedStep: null,
  checksFailed: [],
  that: [],
};

/** Reads `expect`; without it a test only wants the run to succeed. */
export function readExpect(context: TestContext, entry: SourceEntry | undefined, at: string): TestExpectation {
  const { findings } = context.method;
  const given = entriesOrReport(context, entry, at, 'for example  expect: { status: succeeded }');
  if (entry?.value.kind !== 'map') return NOTHING;
  const map: SourceMap = { ...entry.value, entries: new Map(Array.from(given, (each) => [each.key, each])) };
  checkKeys(findings, map, EXPECT_KEYS, at);
  const key = (name: string) => map.entries.get(name);
  const status = readWord(findings, key('status'), `${at}.status`, 'status', STATUSES) ?? null;
  const failedStep = readFailedStep(context, key('failed_step'), `${at}.failed_step`);
  const finishes = status !== 'failed' && status !== 'waiting' && failedStep === null;
  const that = scopeAfter(context, finishes);
  return {
    status,
    result: readResultPart(context, key('result'), `${at}.result`),
    skipped: readSkipped(context, key('skipped'), `${at}.skipped`),
    failedStep,
    checksFailed: readChecksFailed(context, key('checks_failed'), `${at}.checks_failed`),
    that: readChecks(that, key('that'), `${at}.that`, placeOf(that, 'none')),
  };
}

/**
 * The names that `that` sees: `inputs`, `steps` and `result`. Of a run that does not finish any of them may be absent.
 */
function scopeAfter({ method, result }: TestContext, finishes: boolean): MethodContext {
  const scope = finishes ? method : afterScope(method);
  const type: ObjectType = finishes
    ? result
    : { kind: 'object', fields: new Map(Array.from(result.fields, ([name, field]) => [name, unsure(field)])) };
  const roots = new Map([...scope.roots].filter(([name]) => name === 'inputs' || name === 'steps'));
  roots.set('result', { type, read: (frame) => frame.scope.result ?? {} });
  return { ...scope, roots };
}

function unsure(field: Field): Field {
  return { ...field, optional: true };
}

function readResultPart(context: TestContext, entry: SourceEntry | undefined, at: string): TestExpectation['result'] {
  if (!entry) return null;
  const names = context.result.fields;
  for (const { key, keyRange } of entriesOrReport(context, entry, at, 'for example  result: { id: 5 }')) {
    if (names.has(key)) continue;
    context.method.findings.add('M901', `the result has no "${key.slice(0, 40)}"`, `${at}.${key}`, keyRange, {
      hint: () => hintNearest(key, names.keys(), 'names of the result'),
    });
  }
  return entry.value.kind === 'map' ? jsonOf(entry.value) : null;
}

function readSkipped(context: TestContext, entry: SourceEntry | undefined, at: string): string[] {
  const skipped: string[] = [];
  for (const [index, item] of itemsOrReport(context, entry, at, 'for example  skipped: [refund]')) {
    const path = readStep(context, item.kind === 'scalar' ? item.text : '', `${at}[${index}]`, item.range);
    if (path !== undefined) skipped.push(path);
  }
  return skipped;
}

function readFailedStep(context: TestContext, entry: SourceEntry | undefined, at: string): string | null {
  if (!entry) return null;
  const text = entry.value.kind === 'scalar' ? entry.value.text : '';
  return readStep(context, text, at, entry.value.range) ?? null;
}

function readStep(
  context: TestContext,
  text: string,
  at: string,
  range: readonly [number, number],
): string | undefined {
  const found = context.index.find(text);
  if ('path' in found) return found.path;
  context.method.findings.add('M901', found.message, at, range, { hint: found.hint });
  return undefined;
}

function readChecksFailed(context: TestContext, entry: SourceEntry | undefined, at: string): string[] {
  const names: string[] = [];
  const items = itemsOrReport(context, entry, at, 'for example  checks_failed: [The total is positive]');
  for (const [index, item] of items) {
    const name = item.kind === 'scalar' ? item.text.trim() : '';
    if (name !== '' && (context.checkNames === null || context.checkNames.has(name))) names.push(name);
    else
      context.method.findings.add('M901', `no check "${name.slice(0, 60)}"`, `${at}[${index}]`, item.range, {
        hint: () => hintNearest(name, context.checkNames ?? []),
      });
  }
  return names;
}
