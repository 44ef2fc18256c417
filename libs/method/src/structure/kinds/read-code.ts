// Owns code steps (node, python, shell): the code, the values and secrets given to it, where its printed text goes, and
// the mistakes that are visible without running it.
import type { CodeLanguage, CodeStep, StepBase } from '../../compiled-method.ts';
import { hintNearest } from '../../source/did-you-mean.ts';
import type { Findings } from '../../source/findings.ts';
import { type SourceEntry, stringOf } from '../../source/source-node.ts';
import { isUnknown, membersOf, type Type } from '../../types/type.ts';
import { utf8Bytes } from '../../utf8-bytes.ts';
import { nodeCodeFault, nodeLibFault, nodeParameters, rangeOfCode } from '../code-syntax.ts';
import { hasNetwork } from '../read-limits.ts';
import { placeOf, type StepContext } from '../step-context.ts';
import { readIn } from './read-in.ts';

const CODE_BYTES_MAX = 65_536;

type CodeFields = Omit<CodeStep, Exclude<keyof StepBase, 'secrets'>>;

export function readCode(context: StepContext, kind: CodeLanguage, entry: SourceEntry): CodeFields {
  const { findings, path, step } = context;
  const at = `${path}.${kind}`;
  const code = stringOf(entry.value) ?? '';
  if (code.trim() === '')
    findings.add('M112', `${kind} needs code`, at, entry.keyRange, { hint: `write  ${kind}: |  and the code below` });
  else if (utf8Bytes(code) > CODE_BYTES_MAX)
    findings.add('M804', 'code is at most 64 KiB', at, entry.keyRange, { hint: 'move shared code to lib' });
  const inputs = readIn(context, placeOf(context, 'values'), 'variables');
  const secrets = readSecretNames(context, step.entries.get('secrets'));
  if (code !== '') checkCode(context, { kind, entry, code, inputs, secrets });
  if (kind === 'node') checkSyntax(findings, at, entry, nodeParameters(context.lib, inputs.keys()));
  const codeAt = entry.value.kind === 'scalar' ? entry.value.contentAt : entry.value.range[0];
  return {
    kind,
    code,
    codeLine: findings.source.positionOf(codeAt).line,
    inputs: new Map(Array.from(inputs, ([name, { value }]) => [name, value])),
    secrets,
    stdout: readStdout(context, step.entries.get('stdout')),
    network: hasNetwork(context.ownLimits, context.limits),
  };
}

/** `secrets: [NAME]` of a step. */
export function readSecretNames(context: StepContext, entry: SourceEntry | undefined): string[] {
  if (!entry) return [];
  if (entry.value.kind !== 'list') {
    context.findings.add('M602', "a step's secrets is a list of names", `${context.path}.secrets`, entry.value.range, {
      hint: 'for example  secrets: [API_TOKEN]',
    });
    return [];
  }
  for (const [index, item] of entry.value.items.entries()) {
    context.values.secretName(item.kind === 'scalar' ? item.text : '', `${context.path}.secrets[${index}]`, item.range);
  }
  return context.values.takeSecretNames();
}

/** `stdout`: a field of `out` that takes the printed text, as JSON unless the field is text. */
function readStdout(context: StepContext, entry: SourceEntry | undefined): CodeStep['stdout'] {
  if (!entry) return null;
  const { findings, outType, path } = context;
  const name = stringOf(entry.value) ?? '';
  const field = outType?.fields.get(name);
  if (field) return { field: name, as: holdsText(field.type) ? 'text' : 'json' };
  findings.add(
    'M508',
    `stdout names "${name.slice(0, 40)}", which out does not declare`,
    `${path}.stdout`,
    entry.value.range,
    {
      hint:
        hintNearest(name, outType?.fields.keys() ?? [], 'out declares') ??
        `add  out: { ${/^[A-Za-z_]\w{0,63}$/.test(name) ? name : 'text'}: string }`,
    },
  );
  return null;
}

function holdsText(type: Type): boolean {
  if (isUnknown(type)) return false;
  return membersOf(type).every(
    (member) =>
      ['string', 'secret', 'null'].includes(member.kind) ||
      (member.kind === 'choice' && member.values.every((value) => typeof value === 'string')),
  );
}

// The finding M114 of node code, with the place inside the source where the parser gave up.

/**
 * `names`: the variables of a step's code; null: the code is that of `lib`. Versions that were saved before this rule are
 * left to the runner, and services need not parse what they do not run.
 */
export function checkSyntax(findings: Findings, at: string, entry: SourceEntry, names: readonly string[] | null): void {
  const code = stringOf(entry.value) ?? '';
  if (findings.saved || code.trim() === '' || entry.value.kind !== 'scalar') return;
  if (utf8Bytes(code) > CODE_BYTES_MAX) return;
  const fault = names === null ? nodeLibFault(code) : nodeCodeFault(code, names);
  if (fault === null) return;
  const hint = code.charAt(fault.at) === ':' ? 'node code is JavaScript; TypeScript is not read' : undefined;
  const range = rangeOfCode(findings.source, entry.value, fault.at);
  findings.add('M114', `the code does not parse: ${fault.message}`, at, range, { hint });
}

interface GivenCode {
  readonly kind: CodeLanguage;
  readonly entry: SourceEntry;
  readonly code: string;
  readonly inputs: ReadonlyMap<string, unknown>;
  readonly secrets: readonly string[];
}

/** Finds templates, dropped results, unused values and secrets that are not listed. */
function checkCode(context: StepContext, given: GivenCode): void {
  const { findings, path } = context;
  const { kind, entry, code } = given;
  const at = `${path}.${kind}`;
  const template = /(?:\$\{\{?|\{\{)\s*(?:inputs|steps|secrets)\./.exec(code);
  if (template) {
    findings.warn(
      'M505',
      `code is never templated: "${template[0]}…" stays as it is`,
      at,
      entry.keyRange,
      'list the value under in: and use it as a variable',
    );
  }
  if (context.outType === null && returnsValue(kind, code)) {
    findings.warn(
      'M506',
      'the returned value is dropped: the step declares no out',
      at,
      entry.keyRange,
      'declare out: or remove the return',
    );
  }
  // One pass for all names: a pattern for each name would cost names times code.
  const words = wordsOf(code);
  checkInputs(context, given, words);
  for (const name of context.secrets.names) {
    if (words.has(name) && !given.secrets.includes(name)) {
      findings.add('M603', `the code names ${name} but the step does not list it`, at, entry.keyRange, {
        hint: `add  secrets: [${[...given.secrets, name].join(', ')}]`,
      });
    }
  }
}

function checkInputs(context: StepContext, { kind, entry, inputs }: GivenCode, words: ReadonlySet<string>): void {
  if (inputs.size === 0 || words.has('STEP_IN')) return;
  // Sourced into the same shell, `lib` reads the variables of the step too.
  const shared = kind === 'shell' ? wordsOf(context.lib.shell?.code ?? '') : new Set<string>();
  const inEntry = context.step.entries.get('in');
  for (const name of inputs.keys()) {
    if (words.has(name) || shared.has(name)) continue;
    context.findings.warn(
      'M507',
      `"${name}" is given to the step but its code does not use it`,
      `${context.path}.in`,
      inEntry?.keyRange ?? entry.keyRange,
      'use it or remove it',
    );
  }
}

function returnsValue(kind: CodeLanguage, code: string): boolean {
  return kind === 'shell' ? /(?:^|[;&|\s])step out\b/.test(code) : /\breturn\s*[\w{["'`(]/.test(code);
}

function wordsOf(code: string): Set<string> {
  return new Set(code.match(/[A-Za-z_]\w*/g));
}
