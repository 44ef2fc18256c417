// Owns one upgraded step: its keys in the order they are written.
import { shorten } from '../draft/method-text.ts';
import { type JsonObject, type JsonValue, objectOf } from '../json.ts';
import type { Findings } from '../source/findings.ts';
import { rangeInside, type SourceScalar } from '../source/source-node.ts';
import { type Range, SourceText } from '../source/source-text.ts';
import { type CodeReports, upgradeCode } from './old-code.ts';
import { upgradeCondition, upgradeQuestion } from './old-texts.ts';
import type { OldStep } from './old-workflow.ts';
import type { Paste, PastedNames } from './pasted-names.ts';

const TITLE_CHARACTERS_MAX = 200;
const PLACES_MAX = 100;
// A choice of one of these words would be read as a type.
const TYPE_WORD =
  /^(?:string|text|number|integer|boolean|null|any|object|file|secret|list|map|date|datetime|time|email|url|uuid)$/;

/** The step as method/2; problems go to `findings`. */
export function upgradeStep(
  findings: Findings,
  names: PastedNames,
  step: OldStep,
  name: string,
  env: readonly string[],
): JsonObject {
  const fields: (readonly [string, JsonValue])[] = [['name', name]];
  const unknown = (words: string, range = step.node.range) => {
    const { message, hint } = names.explain(words);
    findings.add('U003', message, step.path, range, { hint });
  };
  const title = titleOf(step.title, name);
  if (title !== null) fields.push(['title', title]);
  if (step.when) {
    const { range } = step.when;
    const condition = upgradeCondition(step.when.text, names, (words) => unknown(words, range));
    if (condition !== undefined) fields.push(['if', condition]);
    else {
      findings.add('U005', 'the condition is not understood', `${step.path}.when`, range, {
        hint: 'write {{x}}, {{x}} == value, {{x}} != value or {{x}} contains value',
      });
    }
  }
  fields.push(
    ...(step.action.kind === 'run' ? codeFields(findings, names, step, env) : askFields(names, step, unknown)),
  );
  if (step.retries > 0 && step.action.kind === 'run') fields.push(['retry', step.retries]);
  const timeout = step.timeoutMs === null ? (step.action.kind === 'run' ? '1d' : null) : duration(step.timeoutMs);
  if (timeout !== null) fields.push(['limits', { timeout }]);
  if (step.ignoresErrors) fields.push(['on_error', 'continue']);
  return objectOf([...fields, ...Object.entries(step.extensions)]);
}

/** The old name, where the new one does not already contain it. */
export function titleOf(words: string | null, name: string): string | null {
  return words === null || words === name ? null : shorten(words, TITLE_CHARACTERS_MAX);
}

function duration(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

function askFields(
  names: PastedNames,
  step: OldStep,
  unknown: (words: string) => void,
): (readonly [string, JsonValue])[] {
  if (step.action.kind !== 'prompt') return [];
  const { question, options } = step.action;
  const answer: JsonValue =
    options.length === 0
      ? 'string 1..'
      : options.some((o) => TYPE_WORD.test(o))
        ? { $schema: { enum: options } }
        : options;
  return [
    ['ask', upgradeQuestion(question, names, unknown)],
    ['out', { answer }],
  ];
}

function codeFields(
  findings: Findings,
  names: PastedNames,
  step: OldStep,
  env: readonly string[],
): (readonly [string, JsonValue])[] {
  if (step.action.kind !== 'run') return [];
  const { language, code } = step.action;
  const { code: upgraded, variables } = upgradeCode(code, language, names, reportsOf(findings, names, step));
  const words = new Set(upgraded.match(/[A-Za-z_]\w*/g));
  const secrets = env.filter((secret) => words.has(secret));
  const fields: (readonly [string, JsonValue])[] = [];
  if (variables.size > 0)
    fields.push(['in', objectOf(Array.from(variables, ([variable, expression]) => [variable, `=${expression}`]))]);
  if (secrets.length > 0) fields.push(['secrets', secrets]);
  fields.push([language, upgraded], ['stdout', 'text'], ['out', { text: 'string' }]);
  return fields;
}

function reportsOf(findings: Findings, names: PastedNames, step: OldStep): CodeReports {
  const path = `${step.path}.run`;
  const places = new BlockPlace(findings.source, step.node);
  let placed = 0;
  // The most that are returned; finding the place of each in a hostile script would take seconds.
  const place = (paste: Paste, start: number) =>
    ++placed > PLACES_MAX ? step.node.range : places.of(start, start + paste.words.length + 4);
  const short = (paste: Paste) => `{{${paste.words.slice(0, 60)}}}`;
  return {
    unknown: (paste, start) => {
      const { message, hint } = names.explain(paste.words);
      findings.add('U003', message, path, place(paste, start), { hint });
    },
    quotedHeredoc: (paste, start) =>
      findings.add('U002', `${short(paste)} is in a quoted heredoc`, path, place(paste, start), {
        hint: 'remove the quotes around the word after <<, or pass the value in another way',
      }),
    doubt: (paste, start, why, variable) =>
      findings.warn('U004', `${short(paste)} ${why}`, path, place(paste, start), `it is the text variable ${variable}`),
    oneProcess: (found) =>
      findings.warn(
        'U008',
        `"${found}" works differently in a python step`,
        path,
        step.node.range,
        'the code is the body of a function: keep state in variables of it, and start no python processes from it',
      ),
  };
}

// Places inside the code of a step: in a block scalar every line lost its indent, so offsets must be found by line.

/** Offsets of a step's code to ranges of the file. */
class BlockPlace {
  readonly #file: SourceText;
  readonly #node: SourceScalar;
  readonly #code: SourceText;
  /** Offsets at which the lines of the block start in the file. */
  #lines: number[] | undefined;

  constructor(file: SourceText, node: SourceScalar) {
    this.#file = file;
    this.#node = node;
    this.#code = new SourceText(node.text);
  }

  /** The range of `start` to `end`, both in one line of the code; the whole scalar where it is unknown. */
  of(start: number, end: number): Range {
    const node = this.#node;
    if (node.textAt !== null || node.contentAt === node.range[0]) return rangeInside(node, start, end);
    const { line, column } = this.#code.positionOf(start);
    this.#lines ??= this.#startsOfLines();
    const lineAt = this.#lines[line - 1] ?? node.contentAt;
    const indented = this.#file.lineAt(lineAt).replace(/\r$/, '');
    const plain = this.#code.lineAt(start);
    // The lines of a folded block were joined.
    if (!indented.endsWith(plain)) return node.range;
    const at = lineAt + indented.length - plain.length + column - 1;
    return [at, at + end - start];
  }

  #startsOfLines(): number[] {
    const starts: number[] = [];
    const { text } = this.#file;
    for (let at = this.#node.contentAt; at > 0 && at < this.#node.range[1]; at = text.indexOf('\n', at) + 1)
      starts.push(at);
    return starts;
  }
}
