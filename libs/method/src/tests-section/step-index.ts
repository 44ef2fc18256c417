// Owns the steps of a method by name and path, as its tests name them. Read from the source, so that a step with an error
// of its own is still a known name.

import { nearest } from '../source/did-you-mean.ts';
import { entriesOf, type SourceMap, type SourceNode } from '../source/source-node.ts';
import { KINDS } from '../structure/keys.ts';

export interface IndexedStep {
  readonly name: string;
  /** Without indexes, such as `group/inner` or `on_failure/tell`. */
  readonly path: string;
  /** The kind's key; undefined when the step has none. */
  readonly kind: string | undefined;
  /** For each part of the path, whether it runs in rounds. */
  readonly loops: readonly boolean[];
}

export interface NamedStep {
  readonly step: IndexedStep;
  /** The path with the indexes that were given, such as `loop[2]/inner`. */
  readonly path: string;
  /** `one`: the name means one run of the step; `rounds`: all rounds of its own loop; `around`: rounds of a loop around it. */
  readonly times: 'one' | 'rounds' | 'around';
}

// The bounds of the method itself: more is refused elsewhere.
const STEPS_MAX = 200;
const LEVELS_MAX = 8;
// A guess compares with every name; an author with more misspelt names has seen the right ones by then.
const GUESSES_MAX = 20;
const PATH = /^[a-z][a-z0-9_]{0,63}(?:\[\d{1,5}\])?(?:\/[a-z][a-z0-9_]{0,63}(?:\[\d{1,5}\])?){0,10}$/;

export class StepIndex {
  readonly #byName = new Map<string, IndexedStep>();
  readonly #legacyKeys: ReadonlyMap<string, string>;
  #guesses = 0;

  /** `legacyKeys`: older spellings of step keys that this source may use. */
  constructor(method: SourceMap, legacyKeys: ReadonlyMap<string, string>) {
    this.#legacyKeys = legacyKeys;
    this.#addList(method.entries.get('steps')?.value, [], [], 1);
    for (const key of ['on_failure', 'finally']) this.#addList(method.entries.get(key)?.value, [key], [false], 1);
  }

  /** The step a test means: by its name, or by its path with or without indexes. Otherwise the words of the finding. */
  find(text: string): NamedStep | { readonly message: string; readonly hint: string | undefined } {
    const parts = PATH.test(text) ? text.split('/') : [];
    const bare = parts.map((part) => part.replace(/\[.*/, ''));
    const step = this.#byName.get(bare.at(-1) ?? '');
    const isWhole = step?.path === bare.join('/');
    if (!step || (parts.length > 1 && !isWhole)) {
      const near = step?.path ?? this.#guess(text);
      return {
        message: `no step "${text.slice(0, 40)}"`,
        hint: near === undefined ? undefined : `did you mean "${near}"?`,
      };
    }
    const path = isWhole ? text : `${step.path}${(parts[0] ?? '').slice(step.name.length)}`;
    const indexed = path.split('/').map((part) => part.endsWith(']'));
    const wrong = indexed.findIndex((isIndexed, at) => isIndexed && !step.loops[at]);
    if (wrong >= 0) {
      return { message: `step "${bare.at(-1)}" does not run in rounds there`, hint: `write  ${step.path}` };
    }
    const last = indexed.length - 1;
    const open = step.loops.map((loop, at) => loop && !indexed[at]);
    return { step, path, times: open[last] ? 'rounds' : open.includes(true) ? 'around' : 'one' };
  }

  #guess(text: string): string | undefined {
    return this.#guesses++ < GUESSES_MAX ? nearest(text, this.#byName.keys()) : undefined;
  }

  #addList(node: SourceNode | undefined, path: readonly string[], loops: readonly boolean[], level: number): void {
    if (node?.kind !== 'list' || level > LEVELS_MAX) return;
    for (const item of node.items) {
      const keys = new Map<string, SourceNode>();
      for (const { key, value } of entriesOf(item)) keys.set(this.#legacyKeys.get(key) ?? key, value);
      const named = keys.get('name');
      const name = named?.kind === 'scalar' ? named.text : '';
      if (this.#byName.size >= STEPS_MAX) return;
      if (!PATH.test(name) || name.includes('/') || name.endsWith(']')) continue;
      const innerPath = [...path, name];
      const innerLoops = [...loops, keys.has('each') || keys.has('repeat')];
      const kind = KINDS.find((key) => keys.has(key));
      if (!this.#byName.has(name)) {
        this.#byName.set(name, { name, path: innerPath.join('/'), kind, loops: innerLoops });
      }
      if (kind === 'steps' || kind === 'parallel') this.#addList(keys.get(kind), innerPath, innerLoops, level + 1);
    }
  }
}
