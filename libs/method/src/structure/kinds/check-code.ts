// Owns the mistakes that are visible in code without running it: templates, dropped results, unused values, secrets not
// listed.
import type { CodeLanguage } from '../../compiled-method.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import type { StepContext } from '../step-context.ts';

export interface GivenCode {
  readonly kind: CodeLanguage;
  readonly entry: SourceEntry;
  readonly code: string;
  readonly inputs: ReadonlyMap<string, unknown>;
  readonly secrets: readonly string[];
}

export function checkCode(context: StepContext, given: GivenCode): void {
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
