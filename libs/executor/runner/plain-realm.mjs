// Runs plain code: in its own global object with the built-ins of the language and nothing else, all frozen, so that no
// run leaves anything for the next. No object of the runner is ever passed in: values come as text, which this realm
// parses itself. Code that needs more fails, and runs in the usual way instead.
import { createContext, Script } from 'node:vm';

/**
 * Freezes everything that code can reach, by name or through objects that its syntax creates. Removes what regular
 * expressions remember, such as `RegExp.$1`.
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
  // The global object itself cannot be frozen. Code that names a built-in may also assign to it.
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  for (const key of Reflect.ownKeys(globalThis)) {
    const { value, enumerable } = getOwnPropertyDescriptor(globalThis, key);
    defineProperty(globalThis, key, { value, enumerable, writable: false, configurable: false });
  }
  JSON.parse`;

export class PlainRealm {
  #context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
  #functions = new Map();
  /** Converts text to values of this realm. */
  parse = new Script(FREEZE).runInContext(this.#context);

  /** Null if this node lacks a built-in that is frozen here, for example without Intl. */
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
      // This version of node accepts less than the checker: its runs fail here, and report it in the usual way.
    }
  }

  /** `values`: of this realm. The thrown value belongs to the code: do not call into it. */
  run(step, values) {
    const out = this.#functions.get(step)(...values);
    if (typeof out?.then === 'function') throw new Error('the usual way awaits this');
    return out;
  }
}
