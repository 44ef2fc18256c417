// Where plain code runs: a global object of its own with the built-ins of the language and nothing else, all frozen, so
// that no run leaves anything there for the next. Nothing of the runner is ever handed in: values come as text, which
// this realm parses itself. Code that needs what is not here fails, and runs in the usual way instead.
import { createContext, Script } from 'node:vm';

/**
 * Freezes all that code can reach, by name or through what its syntax makes. Removes what regular expressions remember,
 * such as `RegExp.$1`.
 */
const FREEZE = `"use strict";
  for (const key of Reflect.ownKeys(RegExp)) {
    if (Object.getOwnPropertyDescriptor(RegExp, key).get && key !== Symbol.species) delete RegExp[key];
  }
  const iterators = [
    [].values(), ''[Symbol.iterator](), new Map().values(), new Set().values(), ''.matchAll(/a/g), (function* () {})(),
    (async function* () {})(), new Intl.Segmenter().segment('a'), new Intl.Segmenter().segment('a')[Symbol.iterator](),
  ];
  const functions = [async () => {}, function* () {}, async function* () {}];
  const waiting = [...iterators, ...functions].map((it) => Object.getPrototypeOf(it));
  for (const key of Reflect.ownKeys(globalThis)) waiting.push(Object.getOwnPropertyDescriptor(globalThis, key).value);
  const seen = new Set([globalThis]);
  while (waiting.length > 0) {
    const it = waiting.pop();
    if ((typeof it !== 'object' && typeof it !== 'function') || it === null || seen.has(it)) continue;
    seen.add(it);
    Object.freeze(it);
    waiting.push(Object.getPrototypeOf(it));
    for (const key of Reflect.ownKeys(it)) {
      const { value, get, set } = Object.getOwnPropertyDescriptor(it, key);
      waiting.push(value, get, set);
    }
  }
  // The global object itself cannot be frozen. Code that names a built-in may assign to it as well.
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  for (const key of Reflect.ownKeys(globalThis)) {
    const { value, enumerable } = getOwnPropertyDescriptor(globalThis, key);
    defineProperty(globalThis, key, { value, enumerable, writable: false, configurable: false });
  }
  JSON.parse`;

export class PlainRealm {
  #context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
  #functions = new Map();
  /** Text to values of this realm. */
  parse = new Script(FREEZE).runInContext(this.#context);

  /** Null where this node lacks a built-in that is frozen here, as one without Intl does. */
  static make() {
    try {
      return new PlainRealm();
    } catch {
      return null;
    }
  }

  /** `{ step, code, names }`: code that `isPlainNodeCode` has found plain. */
  learn({ step, code, names }) {
    const source = `"use strict"; (function (${names.join(', ')}) {\n${code}\n})`;
    try {
      this.#functions.set(step, new Script(source, { filename: `step_${step}` }).runInContext(this.#context));
    } catch {
      // This version of node reads less than the checker does: its runs fail here, and say so in the usual way.
    }
  }

  /** `values`: of this realm. The thrown value is the code's: do not call into it. */
  run(step, values) {
    const out = this.#functions.get(step)(...values);
    if (typeof out?.then === 'function') throw new Error('the usual way awaits this');
    return out;
  }
}
