// Owns the form of workflow/1: its keys and their values. What cannot be read is U001, or U007 for `run`.
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { hintNearest } from '../source/did-you-mean.ts';
import type { Findings } from '../source/findings.ts';
import { isEmptyNode, jsonOf, type SourceMap, type SourceNode, type SourceScalar } from '../source/source-node.ts';
import type { Range } from '../source/source-text.ts';

export interface OldWorkflow {
  readonly title: string | null;
  readonly description: string | null;
  readonly params: readonly OldParam[];
  readonly env: readonly string[];
  readonly steps: readonly OldStep[];
  /** Keys starting `x-`, taken over as they are. */
  readonly extensions: JsonObject;
}

export interface OldParam {
  readonly name: string;
  readonly fallback: string | null;
}

export type CodeLanguage = 'shell' | 'python' | 'node';

export type OldAction =
  | { readonly kind: 'run'; readonly language: CodeLanguage; readonly code: string }
  | { readonly kind: 'prompt'; readonly question: string; readonly options: readonly string[] };

export interface OldStep {
  readonly range: Range;
  /** Such as `steps[2]`. */
  readonly path: string;
  readonly title: string | null;
  readonly action: OldAction;
  /** The value of `run` or `prompt`, for places inside it. */
  readonly node: SourceScalar;
  readonly when: SourceScalar | null;
  readonly timeoutMs: number | null;
  readonly retries: number;
  readonly ignoresErrors: boolean;
  readonly extensions: JsonObject;
}

const KEYS = ['format', 'workflow', 'description', 'params', 'env', 'steps'];
const STEP_KEYS = ['name', 'run', 'lang', 'prompt', 'options', 'when', 'timeout', 'retries', 'ignore_errors'];
const LANGUAGES: ReadonlyMap<string, CodeLanguage> = new Map([
  ['shell', 'shell'],
  ['sh', 'shell'],
  ['bash', 'shell'],
  ['python', 'python'],
  ['node', 'node'],
]);
// method/2 has no more of each; the rest of a larger file need not be read.
const STEPS_MAX = 200;
const PARAMS_MAX = 200;

/** Reads a whole file; good only when no error was found. */
export function readOldWorkflow(findings: Findings, root: SourceMap): OldWorkflow {
  const refuse = (message: string, path: string, range: Range, hint?: string) =>
    findings.add('U001', message, path, range, { hint });
  refuseUnknownKeys(findings, root, KEYS, '');
  const list = (key: string, what: string): readonly SourceNode[] => {
    const entry = root.entries.get(key);
    if (!entry || isEmptyNode(entry.value)) return [];
    if (entry.value.kind === 'list') return entry.value.items;
    refuse(`${key} is a list of ${what}`, key, entry.value.range);
    return [];
  };
  const texts = (key: string, what: string): string[] =>
    list(key, what).flatMap((item, index) => {
      if (item.kind === 'scalar' && item.text.trim() !== '') return [item.text.trim()];
      refuse(`${key} is a list of ${what}`, `${key}[${index}]`, item.range);
      return [];
    });
  const params = texts('params', 'names').map(readParam);
  if (params.length > PARAMS_MAX) refuse(`at most ${PARAMS_MAX} params can be upgraded`, 'params', root.range);
  const steps = list('steps', 'steps');
  if (steps.length === 0) refuse('a workflow has steps', 'steps', root.entries.get('steps')?.keyRange ?? [0, 0]);
  if (steps.length > STEPS_MAX) refuse(`at most ${STEPS_MAX} steps can be upgraded`, 'steps', root.range);
  return {
    title: wordsOf(root, 'workflow'),
    description: wordsOf(root, 'description'),
    params: params.slice(0, PARAMS_MAX),
    env: [...new Set(texts('env', 'names'))],
    steps: steps.slice(0, STEPS_MAX).flatMap((step, index) => readOldStep(findings, step, index) ?? []),
    extensions: extensionsOf(root),
  };
}

function readParam(text: string): OldParam {
  const equals = text.indexOf('=');
  if (equals < 0) return { name: text, fallback: null };
  return { name: text.slice(0, equals).trim(), fallback: text.slice(equals + 1).trim() };
}

function readOldStep(findings: Findings, step: SourceNode, index: number): OldStep | undefined {
  const path = `steps[${index}]`;
  const refuse = (message: string, range: Range, hint?: string) => {
    findings.add('U001', message, path, range, { hint });
    return undefined;
  };
  if (step.kind !== 'map') return refuse('a step is a mapping', step.range);
  refuseUnknownKeys(findings, step, STEP_KEYS, path);
  const read = readAction(findings, step, path);
  const when = step.entries.get('when')?.value;
  if (when !== undefined && (when.kind !== 'scalar' || when.text.trim() === '')) {
    findings.add('U005', 'when is a condition', `${path}.when`, when.range, { hint: 'write  when: "{{x}} == value"' });
  }
  const timeout = numberOf(findings, step, 'timeout', path);
  const retries = numberOf(findings, step, 'retries', path) ?? 0;
  if (!Number.isInteger(retries)) refuse('retries is a whole number', step.range);
  const ignores = step.entries.get('ignore_errors')?.value;
  if (ignores !== undefined && !isEmptyNode(ignores) && !/^(?:true|false)$/i.test(textOf(ignores) ?? ''))
    refuse('ignore_errors is true or false', ignores.range);
  if (!read) return undefined;
  return {
    ...read,
    path,
    range: step.range,
    title: wordsOf(step, 'name'),
    when: when?.kind === 'scalar' ? when : null,
    timeoutMs: timeout === null || timeout === 0 ? null : Math.max(1, Math.round(timeout * 1_000)),
    retries,
    ignoresErrors: /^true$/i.test(textOf(ignores) ?? ''),
    extensions: extensionsOf(step),
  };
}

function readAction(findings: Findings, step: SourceMap, path: string): Pick<OldStep, 'action' | 'node'> | undefined {
  const run = step.entries.get('run');
  const prompt = step.entries.get('prompt');
  if ((run === undefined) === (prompt === undefined)) {
    findings.add('U001', 'a step has either run or prompt', path, step.range);
    return undefined;
  }
  const node = (run ?? prompt)?.value;
  if (run && (node?.kind !== 'scalar' || node.value === null)) {
    findings.add('U007', 'run is not text', `${path}.run`, run.value.range, {
      hint: 'a ": " in it made it a mapping: put the code on its own lines below  run: |',
    });
    return undefined;
  }
  if (node?.kind !== 'scalar' || node.value === null) {
    findings.add('U001', 'prompt is text', `${path}.prompt`, node?.range ?? step.range);
    return undefined;
  }
  if (prompt)
    return { node, action: { kind: 'prompt', question: node.text, options: readOptions(findings, step, path) } };
  const lang = step.entries.get('lang')?.value;
  const language = lang === undefined || isEmptyNode(lang) ? 'shell' : LANGUAGES.get(textOf(lang) ?? '');
  if (language === undefined) {
    findings.add('U001', 'lang is shell, python or node', `${path}.lang`, lang?.range ?? step.range);
    return undefined;
  }
  return { node, action: { kind: 'run', language, code: node.text } };
}

function readOptions(findings: Findings, step: SourceMap, path: string): string[] {
  const entry = step.entries.get('options');
  if (!entry || isEmptyNode(entry.value)) return [];
  const items = entry.value.kind === 'list' ? entry.value.items : [undefined];
  const options = items.map((item) => (item === undefined ? '' : (textOf(item) ?? '')));
  if (options.includes('')) findings.add('U001', 'options is a list of texts', `${path}.options`, entry.value.range);
  if (options.some((option) => option.includes('{{'))) {
    findings.add('U003', 'the options of a question are fixed texts', `${path}.options`, entry.value.range, {
      hint: 'write them out, or leave options away',
    });
  }
  return [...new Set(options)];
}

function numberOf(findings: Findings, step: SourceMap, key: string, path: string): number | null {
  const node = step.entries.get(key)?.value;
  if (node === undefined || isEmptyNode(node)) return null;
  const text = textOf(node) ?? '';
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return Number(text);
  findings.add('U001', `${key} is a number`, `${path}.${key}`, node.range);
  return null;
}

function textOf(node: SourceNode | undefined): string | undefined {
  return node?.kind === 'scalar' && node.value !== null ? node.text.trim() : undefined;
}

function wordsOf(map: SourceMap, key: string): string | null {
  return textOf(map.entries.get(key)?.value) || null;
}

function refuseUnknownKeys(findings: Findings, map: SourceMap, known: readonly string[], path: string): void {
  for (const { key, keyRange } of map.entries.values()) {
    if (known.includes(key) || key.startsWith('x-')) continue;
    const at = path === '' ? key : `${path}.${key}`;
    findings.add('U001', `workflow/1 has no key "${key.slice(0, 40)}" here`, at, keyRange, {
      hint: hintNearest(key, known, 'keys'),
    });
  }
}

function extensionsOf(map: SourceMap): JsonObject {
  const all: JsonValue = jsonOf(map);
  return isJsonObject(all) ? Object.fromEntries(Object.entries(all).filter(([key]) => key.startsWith('x-'))) : {};
}
