// Owns the replacements of the world in a test: mocked steps and answers to questions, by the path of their step.
import type { JsonValue } from '../json.ts';
import { isEmptyNode, jsonOf, type SourceEntry, type SourceMap, type SourceNode } from '../source/source-node.ts';
import { checkKeys, readWord } from '../structure/check-keys.ts';
import { ERROR_KINDS } from '../structure/error-kinds.ts';
import { readCount } from '../structure/read-amount.ts';
import type { IndexedStep, NamedStep } from './step-index.ts';
import { entriesOrReport, reportMisfit, type TestContext } from './test-context.ts';
import { MOCK_ERROR_KEYS } from './test-keys.ts';

// The steps inside or around them make their outs.
const WITHOUT_MOCK: ReadonlyMap<string, string> = new Map([
  ['steps', 'mock the steps inside'],
  ['parallel', 'mock the steps inside'],
  ['check', 'checks always run: mock the steps they read'],
]);

/** `mock`: step path to its out, a list for rounds, or `{ $error: { kind, status } }`. */
export function readMocks(context: TestContext, entry: SourceEntry | undefined, at: string): Map<string, JsonValue> {
  return readByStep(context, entry, at, 'for example  mock: { order: { total: 5 } }', ({ kind, name }) => {
    if (kind === 'ask') return { message: `"${name}" asks a person`, hint: 'put it under answers:' };
    const hint = WITHOUT_MOCK.get(kind ?? '');
    return hint === undefined ? undefined : { message: `"${name}" cannot be mocked`, hint };
  });
}

/** `answers`: path of an ask step to the answer or to `{ $error: { kind: timeout } }`, a list for rounds. */
export function readAnswers(context: TestContext, entry: SourceEntry | undefined, at: string): Map<string, JsonValue> {
  return readByStep(context, entry, at, 'for example  answers: { approval: { go: true } }', ({ kind, name }) =>
    kind === 'ask' || kind === undefined
      ? undefined
      : { message: `"${name}" does not ask a question`, hint: 'put it under mock:' },
  );
}

type Refusal = { readonly message: string; readonly hint: string } | undefined;

function readByStep(
  context: TestContext,
  entry: SourceEntry | undefined,
  at: string,
  example: string,
  refuse: (step: IndexedStep) => Refusal,
): Map<string, JsonValue> {
  const { findings } = context.method;
  const values = new Map<string, JsonValue>();
  for (const { key, keyRange, value } of entriesOrReport(context, entry, at, example)) {
    const path = `${at}.${key}`;
    const found = context.index.find(key);
    if ('message' in found) {
      findings.add('M901', found.message, path, keyRange, { hint: found.hint });
      continue;
    }
    const refused = refuse(found.step);
    if (refused) findings.add('M901', refused.message, path, keyRange, { hint: refused.hint });
    else if (values.has(found.path))
      findings.add('M003', `step "${found.step.name}" is given twice`, path, keyRange, {
        hint: 'remove one of the two',
      });
    else {
      checkStandIn(context, found, value, path);
      values.set(found.path, jsonOf(value));
    }
  }
  return values;
}

/** A step in rounds takes a list; one inside a loop may also take one value for all rounds. */
function checkStandIn(context: TestContext, { step, times }: NamedStep, node: SourceNode, path: string): void {
  const what = step.kind === 'ask' ? `the answer to "${step.name}"` : `the mock of "${step.name}"`;
  if (isErrorMock(node)) checkError(context, node, path, step);
  else if (times !== 'one' && node.kind === 'list') {
    for (const [index, item] of node.items.entries()) {
      const at = `${path}[${index}]`;
      if (isErrorMock(item)) checkError(context, item, at, step);
      // Null means a skipped round.
      else if (!isEmptyNode(item)) checkOut(context, step, what, item, at);
    }
  } else if (times === 'rounds') {
    context.method.findings.add('M902', `${what} is a list: the step runs in rounds`, path, node.range, {
      hint: `write  ${step.name}: [first, second]  or  "${step.name}[0]": first`,
    });
  } else checkOut(context, step, what, node, path);
}

function checkOut(context: TestContext, step: IndexedStep, what: string, node: SourceNode, path: string): void {
  const type = context.method.outTypes.get(step.name);
  // A step that could not be read has no known out.
  if (type) reportMisfit(context, `${what} does not fit`, context.fit.fields(node, type, path, ''));
}

type ErrorMock = SourceMap;

function isErrorMock(node: SourceNode): node is ErrorMock {
  return node.kind === 'map' && node.entries.has('$error');
}

function checkError(context: TestContext, node: ErrorMock, path: string, step: IndexedStep): void {
  const { findings } = context.method;
  const error = node.entries.get('$error');
  const at = `${path}.$error`;
  const other = [...node.entries.values()].find(({ key }) => key !== '$error');
  if (other)
    findings.add('M902', 'an error has no other fields beside it', `${path}.${other.key}`, other.keyRange, {
      hint: 'a step fails or has an out, not both',
    });
  if (error?.value.kind !== 'map') {
    findings.add('M902', '$error is a mapping', at, error?.value.range ?? node.range, {
      hint: 'for example  { $error: { kind: http, status: 503 } }',
    });
    return;
  }
  const fields = error.value;
  checkKeys(findings, fields, MOCK_ERROR_KEYS, at);
  const kind = readWord(findings, fields.entries.get('kind'), `${at}.kind`, 'kind', ERROR_KINDS);
  const status = fields.entries.get('status');
  if (step.kind === 'ask' && kind !== undefined && kind !== 'timeout')
    findings.add('M902', 'a question fails only by its deadline', `${at}.kind`, fields.range, {
      hint: 'write  kind: timeout',
    });
  readCount(findings, status, `${at}.status`, 'status', [100, 599], 'a status of HTTP, such as 503');
  for (const key of ['code', 'message', 'reason', 'body'] as const) {
    const given = fields.entries.get(key);
    if (given && given.value.kind !== 'scalar')
      findings.add('M104', `${key} is text`, `${at}.${key}`, given.value.range);
  }
  checkHeaders(context, fields.entries.get('headers'), `${at}.headers`);
  const answered = OF_ANSWERS.flatMap((key) => fields.entries.get(key) ?? []);
  if (!fields.entries.has('kind'))
    findings.add('M102', '$error needs kind', at, error.keyRange, {
      hint: `add  kind: ${answered.length > 0 ? 'http' : 'exception'}`,
    });
  else if (kind !== undefined && kind !== 'http')
    for (const { key, keyRange } of answered)
      findings.add('M902', `an error of kind ${kind} has no ${key}`, `${at}.${key}`, keyRange, {
        hint: 'remove it, or write  kind: http',
      });
}

/** The fields that only an http answer has. */
const OF_ANSWERS = ['status', 'reason', 'headers', 'body'] as const;

function checkHeaders({ method: { findings } }: TestContext, entry: SourceEntry | undefined, at: string): void {
  if (entry === undefined) return;
  const { value } = entry;
  const texts = value.kind === 'map' && [...value.entries.values()].every((header) => header.value.kind === 'scalar');
  if (!texts)
    findings.add('M104', 'headers are names and texts', at, value.range, {
      hint: 'for example  headers: { retry-after: "5" }',
    });
}
