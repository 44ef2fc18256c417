// Owns `{{name}}`: which texts are pasted names, which parameter or earlier step each names, and how an expression
// reads that.
import { NameBook, snakeName } from '../draft/names.ts';
import { nearest } from '../source/did-you-mean.ts';
import type { OldStep, OldWorkflow } from './old-workflow.ts';

/** A parameter, or the printed text or answer of an earlier step. */
export interface Reference {
  /** The new name; no input has a step's name, so it also names the variable in code. */
  readonly name: string;
  /** Reads it as text, never null. */
  readonly expression: string;
  /** Whether the expression needs parentheses beside an operator. */
  readonly compound: boolean;
}

/** One `{{name}}` in a text. */
export interface Paste {
  /** Offset behind the `}}`. */
  readonly end: number;
  /** The text between the braces, trimmed. */
  readonly words: string;
  /** Null when nothing has this name. */
  readonly reference: Reference | null;
}

const PASTE = /\{\{([^{}\n]{1,200})\}\}/y;
// `{{.ID}}` for docker or `{{"a": 1}}` in an f-string are no names, so they were never pasted.
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*$/u;

/** The names visible at one point of the file; grows as steps are passed. */
export class PastedNames {
  readonly inputs: ReadonlyMap<string, string | null>;
  readonly stepNames: readonly string[];
  readonly #exact = new Map<string, Reference>();
  readonly #bySnake = new Map<string, Reference>();
  readonly #later: ReadonlySet<string>;

  constructor(workflow: OldWorkflow) {
    const book = new NameBook();
    const inputs = new Map<string, string | null>();
    for (const { name, fallback } of workflow.params) {
      const input = book.take(snakeName(name, 'param'));
      inputs.set(input, fallback);
      this.#add(name, { name: input, expression: `inputs.${input}`, compound: false });
    }
    this.inputs = inputs;
    this.stepNames = workflow.steps.map((step, index) => book.take(snakeName(oldName(step, index), 'step')));
    this.#later = new Set(workflow.steps.map((step, index) => snakeName(oldName(step, index), 'step')));
  }

  /** Lets later texts name the step; a later step of the same old name takes it over. */
  pass(step: OldStep, index: number): void {
    const name = this.stepNames[index] ?? '';
    const field = step.action.kind === 'prompt' ? 'answer' : 'text';
    const optional = isOptional(step);
    const expression = optional ? `steps.${name}?.${field} ?? ""` : `steps.${name}.${field}`;
    this.#add(oldName(step, index), { name, expression, compound: optional });
  }

  #add(old: string, reference: Reference): void {
    this.#exact.set(old, reference);
    const snake = snakeName(old, '');
    // Words in other scripts have no normalized form; they are only found by their exact spelling.
    if (snake !== '') this.#bySnake.set(snake, reference);
  }

  /** The paste that starts at `at`; undefined when there is none. */
  at(text: string, at: number): Paste | undefined {
    if (text.charCodeAt(at) !== 123 || text.charCodeAt(at + 1) !== 123) return undefined;
    PASTE.lastIndex = at;
    const words = PASTE.exec(text)?.[1]?.trim();
    if (words === undefined || words === '') return undefined;
    const reference = this.#exact.get(words) ?? this.#bySnake.get(snakeName(words, '')) ?? null;
    return reference || NAME.test(words) ? { end: PASTE.lastIndex, words, reference } : undefined;
  }

  /** All pastes of a text with the offsets they start at. */
  all(text: string): { readonly start: number; readonly paste: Paste }[] {
    const found: { start: number; paste: Paste }[] = [];
    for (let start = text.indexOf('{{'); start >= 0; ) {
      const paste = this.at(text, start);
      if (paste) found.push({ start, paste });
      start = text.indexOf('{{', paste ? paste.end : start + 1);
    }
    return found;
  }

  /** Why a name is not known, as a message and its hint. */
  explain(words: string): { message: string; hint?: string } {
    const short = words.length > 60 ? `${words.slice(0, 60)}…` : words;
    if (this.#later.has(snakeName(words, ''))) return { message: `{{${short}}} names a step that has not run yet` };
    const near = nearest(words, this.#exact.keys());
    return {
      message: `{{${short}}} names no parameter and no earlier step`,
      ...(near === undefined ? {} : { hint: `did you mean {{${near}}}?` }),
    };
  }
}

/** True when the step may have no output. */
export function isOptional(step: OldStep): boolean {
  return step.when !== null || step.ignoresErrors;
}

function oldName(step: OldStep, index: number): string {
  return step.title ?? `step ${index + 1}`;
}
