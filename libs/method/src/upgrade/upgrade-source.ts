// Owns the upgrade of a workflow/1 file to a method/2 text. The same bytes always give the same text.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { Lexer } from 'yaml';
import { compileMethod } from '../compile.ts';
import { type Diagnostic, sortDiagnostics } from '../diagnostic.ts';
import { writeMethodText } from '../draft/method-text.ts';
import { methodName } from '../draft/names.ts';
import { formatOf } from '../format.ts';
import { type JsonObject, type JsonValue, objectOf } from '../json.ts';
import { Findings } from '../source/findings.ts';
import { readYaml } from '../source/read-yaml.ts';
import { decodeSource, SourceText } from '../source/source-text.ts';
import { titleOf, upgradeStep } from './new-step.ts';
import { type OldStep, type OldWorkflow, readOldWorkflow } from './old-workflow.ts';
import { isOptional, PastedNames } from './pasted-names.ts';

interface Upgrade {
  /** False when the source was method/2 or workflow/2 already; it is then given back as it came, unchecked. */
  readonly changed: boolean;
  /** The method/2 text; null when it was refused, with an error among the diagnostics. */
  readonly source: string | null;
  /** Places in the old file: U001 to U009, and M001 to M007 where it is no YAML. */
  readonly diagnostics: Diagnostic[];
}

// The process of a step has these anyway, and a secret of such a name would be refused.
const ALWAYS_SET = new Set(['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ']);

/** Upgrades a workflow/1 source. Pure, bounded in time, never throws on any input. */
export function upgradeSource(source: string | Uint8Array): Upgrade {
  const decoded = decodeSource(source);
  const findings = new Findings(new SourceText(decoded.text));
  const refuse = (): Upgrade => ({ changed: false, source: null, diagnostics: sortDiagnostics(findings.all) });
  if (!decoded.ok) {
    findings.add('M002', decoded.message, '', [decoded.at, decoded.at]);
    return refuse();
  }
  const format = formatOf(source);
  if (format === 'method/2' || format === 'workflow/2')
    return { changed: false, source: decoded.text, diagnostics: [] };
  if (format === null) {
    findings.add('U001', 'this is not a workflow/1 file', 'format', [0, 0], {
      hint: 'it starts with  format: workflow/1',
    });
    return refuse();
  }
  const root = readYaml(findings);
  if (root === null) return refuse();
  const workflow = readOldWorkflow(findings, root);
  // Steps that could not be read would make their names unknown to all their readers.
  if (findings.refused) return refuse();
  const text = upgradedText(findings, workflow, decoded.text, source);
  if (!findings.refused) validate(findings, text, workflow);
  if (findings.refused) return refuse();
  return { changed: true, source: text, diagnostics: sortDiagnostics(findings.all) };
}

function upgradedText(findings: Findings, workflow: OldWorkflow, text: string, source: string | Uint8Array): string {
  const names = new PastedNames(workflow);
  const steps = workflow.steps.map((step, index) => {
    const upgraded = upgradeStep(findings, names, step, names.stepNames[index] ?? '', workflow.env);
    names.pass(step, index);
    return upgraded;
  });
  const comments = keepComments(text, workflow.steps);
  const digest = bytesToHex(sha256(typeof source === 'string' ? utf8ToBytes(source) : source));
  return writeMethodText({
    head: [`Upgraded from workflow/1, sha256 ${digest}`, ...comments.head],
    method: methodOf(workflow, names, steps),
    stepComments: comments.steps,
    foot: comments.foot,
  });
}

function methodOf(workflow: OldWorkflow, names: PastedNames, steps: readonly JsonObject[]): JsonObject {
  const name = methodName(workflow.title ?? '', 'upgraded');
  const fields: (readonly [string, JsonValue])[] = [
    ['format', 'method/2'],
    ['name', name],
  ];
  const title = titleOf(workflow.title, name);
  if (title !== null) fields.push(['title', title]);
  if (workflow.description !== null) fields.push(['description', workflow.description]);
  fields.push(...Object.entries(workflow.extensions));
  if (names.inputs.size > 0) {
    const inputs = Array.from(names.inputs, ([input, fallback]): readonly [string, string] => [
      input,
      fallback === null ? 'string' : `string = ${JSON.stringify(fallback)}`,
    ]);
    fields.push(['inputs', objectOf(inputs)]);
  }
  const secrets = workflow.env.filter((secret) => !ALWAYS_SET.has(secret));
  if (secrets.length > 0) fields.push(['secrets', secrets]);
  fields.push(['steps', steps]);
  const last = workflow.steps.findLastIndex((step) => step.action.kind === 'run');
  const lastRun = workflow.steps[last];
  if (lastRun) {
    const output = `=steps.${names.stepNames[last]}${isOptional(lastRun) ? '?.' : '.'}text`;
    fields.push(['result', { output }]);
  }
  return objectOf(fields);
}

/** U009 for what the compiler refuses, at the old step it comes from. */
function validate(findings: Findings, text: string, workflow: OldWorkflow): void {
  for (const diagnostic of compileMethod(text).diagnostics) {
    if (diagnostic.severity !== 'error') continue;
    const index = /^steps\[(\d+)\]/.exec(diagnostic.path)?.[1];
    const step: OldStep | undefined = index === undefined ? undefined : workflow.steps[Number(index)];
    const { hint } = diagnostic;
    findings.add(
      'U009',
      `the result is not valid: ${diagnostic.code} ${diagnostic.message}`,
      step?.path ?? diagnostic.path,
      step?.range ?? [0, 0],
      { hint },
    );
  }
}

/** The comments of a workflow/1 file: each goes to its step, to the start of the file, or to its end. */
interface KeptComments {
  readonly head: readonly string[];
  readonly steps: readonly (readonly string[])[];
  readonly foot: readonly string[];
}

// A lexer mark: the next lexeme is a scalar, whose text may well start with `#`.
const SCALAR_FOLLOWS = '\u001f';
const MARKS = new Set(['\u0002', '\u0018', SCALAR_FOLLOWS]);

/** A comment on a step's own line or within it is the step's; one on a line of its own belongs to what follows it. */
function keepComments(text: string, steps: readonly OldStep[]): KeptComments {
  const head: string[] = [];
  const foot: string[] = [];
  const kept = steps.map((): string[] => []);
  const stepsKey = lastKeyBefore(text, steps[0]);
  let step = 0;
  for (const { at, line } of commentsOf(text)) {
    while (step < steps.length && isPassed(text, steps[step], at)) step++;
    const own = kept[step];
    if (own && (step > 0 || at > (steps[0]?.range[0] ?? 0) || at > stepsKey)) own.push(line);
    else (own ? head : foot).push(line);
  }
  return { head, steps: kept, foot };
}

/** True once the comment is after the step, on a line of its own. */
function isPassed(text: string, step: OldStep | undefined, at: number): boolean {
  if (!step || at < step.range[1]) return false;
  const end = step.range[1];
  return text.charAt(end - 1) === '\n' || text.slice(end, at).includes('\n');
}

/** Where the line of `steps:` begins: the last one before the first step that is neither an item nor a comment. */
function lastKeyBefore(text: string, first: OldStep | undefined): number {
  if (first === undefined) return Number.POSITIVE_INFINITY;
  let last = -1;
  for (const { index } of text.slice(0, first.range[0]).matchAll(/^[^\s#-]/gm)) last = index;
  return last;
}

function commentsOf(text: string): { at: number; line: string }[] {
  const found: { at: number; line: string }[] = [];
  let at = 0;
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (!isScalar && lexeme.startsWith('#')) found.push({ at, line: lexeme.replace(/^#[ \t]?/, '').trimEnd() });
    isScalar = lexeme === SCALAR_FOLLOWS;
    if (!MARKS.has(lexeme)) at += lexeme.length;
  }
  return found;
}
