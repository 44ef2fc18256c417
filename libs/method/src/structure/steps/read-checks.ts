// Owns lists of checks: `- Sentence: expression` or the long form, under `require`, `ensure` and `check`.
import type { CompiledCheck } from '../../compiled-method.ts';
import type { CompiledValue } from '../../compiled-value.ts';
import type { SourceEntry, SourceMap, SourceNode } from '../../source/source-node.ts';
import type { Range } from '../../source/source-text.ts';
import { checkKeys, readWord } from '../check-keys.ts';
import { CHECK_KEYS } from '../keys.ts';
import type { ValuePlace } from '../read-value.ts';
import type { MethodContext } from '../step-context.ts';

const CHECKS_MAX = 100;
const SENTENCE_CHARACTERS_MAX = 120;
const SHORT = '- The total is positive: out.total > 0';

/** Reads a list of checks; `place` says what they see. None without the key. */
export function readChecks(
  context: MethodContext,
  entry: SourceEntry | undefined,
  path: string,
  place: ValuePlace,
): CompiledCheck[] {
  if (!entry) return [];
  const { findings } = context;
  if (entry.value.kind !== 'list' || entry.value.items.length === 0) {
    findings.add('M106', 'checks are a list of one or more', path, entry.keyRange, { hint: `for example  ${SHORT}` });
    return [];
  }
  if (entry.value.items.length > CHECKS_MAX)
    findings.add('M803', `a list has at most ${CHECKS_MAX} checks`, path, entry.keyRange, {
      hint: 'use a second check step',
    });
  const names = new Set<string>();
  const checks: CompiledCheck[] = [];
  for (const [index, item] of entry.value.items.slice(0, CHECKS_MAX).entries()) {
    const check = readCheck(context, item, `${path}[${index}]`, place, names);
    if (check) checks.push(check);
  }
  return checks;
}

function readCheck(
  context: MethodContext,
  node: SourceNode,
  path: string,
  place: ValuePlace,
  names: Set<string>,
): CompiledCheck | undefined {
  const { findings, values } = context;
  if (node.kind !== 'map') {
    findings.add('M106', 'a check is  Sentence: expression', path, node.range, { hint: `for example  ${SHORT}` });
    return undefined;
  }
  if (node.entries.has('that') || node.entries.has('name')) return readLongCheck(context, node, path, place, names);
  const [only, ...more] = [...node.entries.values()].filter(({ key }) => !key.startsWith('x-'));
  if (only === undefined || more.length > 0) {
    findings.add('M106', 'a check is one  Sentence: expression', path, more[0]?.keyRange ?? node.range, {
      hint: 'start each check with  -  or write  { name, that, level, message }',
    });
    return undefined;
  }
  const name = readSentence(context, only.key, path, only.keyRange, names);
  const read = values.expression(only.value, path, place, 'condition');
  return name !== undefined && read ? { name, that: read.expression, level: 'error', message: null } : undefined;
}

function readLongCheck(
  context: MethodContext,
  node: SourceMap,
  path: string,
  place: ValuePlace,
  names: Set<string>,
): CompiledCheck | undefined {
  const { findings, values } = context;
  checkKeys(findings, node, CHECK_KEYS, path);
  const named = node.entries.get('name');
  const that = node.entries.get('that');
  for (const [key, entry] of [
    ['name', named],
    ['that', that],
  ] as const) {
    if (!entry) findings.add('M106', `a check needs ${key}`, path, node.range, { hint: `for example  ${SHORT}` });
  }
  const level = readWord(findings, node.entries.get('level'), `${path}.level`, 'level', ['error', 'warn']) ?? 'error';
  const said = node.entries.get('message');
  const message: CompiledValue | null = said ? values.text(said.value, `${path}.message`, place).value : null;
  const read = that && values.expression(that.value, `${path}.that`, place, 'condition');
  const text = named?.value.kind === 'scalar' ? named.value.text : '';
  const name = named && readSentence(context, text, `${path}.name`, named.value.range, names);
  return name !== undefined && read ? { name, that: read.expression, level, message } : undefined;
}

/** The check's name: the record and tests use it, so it is a sentence and unique in its list. */
function readSentence(
  context: MethodContext,
  given: string,
  path: string,
  range: Range,
  names: Set<string>,
): string | undefined {
  const { findings } = context;
  const name = given.trim();
  if (name === '' || name.length > SENTENCE_CHARACTERS_MAX || name.includes('\n')) {
    findings.add(
      'M203',
      `the name of a check is a sentence of 1 to ${SENTENCE_CHARACTERS_MAX} characters`,
      path,
      range,
      {
        hint: 'say what holds, such as  The total is positive',
      },
    );
    return undefined;
  }
  if (names.has(name)) {
    findings.add('M204', `the check "${name}" is in its list twice`, path, range, {
      hint: 'rename one of the two',
    });
    return undefined;
  }
  names.add(name);
  return name;
}
