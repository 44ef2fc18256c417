// The state that all code of a process shares: restored before each step where possible, and otherwise watched.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { inspect } from 'node:util';

/** The descriptors of the runner: a step that closes one is followed by no other step. */
const OWN_DESCRIPTORS_MAX = 5;
const SPAWNING = ['spawnSync', 'execSync', 'execFileSync'];
/** An assignment to them changes what their accessor returns. */
const SET_INSIDE = new Set(['process', 'Buffer']);
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const PROTOTYPED = [
  'Object Function Array String Number Boolean BigInt Symbol Date RegExp Error TypeError Map Set WeakMap WeakSet',
  'Promise ArrayBuffer Uint8Array URL URLSearchParams TextEncoder TextDecoder Buffer EventTarget Event AbortSignal',
]
  .join(' ')
  .split(' ');
const PLAIN = ['JSON', 'Math', 'Reflect', 'Intl', 'console'];
const BUILT_IN = [...PROTOTYPED, ...PLAIN].join('|');
/** Code that can change a built-in contains one of these; checking all built-ins costs as much as a short step. */
const CAN_CHANGE = new RegExp(
  '\\b(?:prototype|__proto__|constructor|define\\w*Propert\\w+|[sg]etPrototypeOf|Reflect|globalThis|global|eval|vm)\\b' +
    `|\\bassign\\(\\s*(?:${BUILT_IN})\\b|\\bdelete\\s+(?:${BUILT_IN})\\b|=\\s*(?:${BUILT_IN})\\b\\s*(?![.([])` +
    `|\\b(?:${BUILT_IN})\\s*(?:\\.\\s*[\\w$]+|\\[[^\\]]*\\])\\s*(?:=(?![=>])|[-+*/%&|?]{1,2}=)`,
);

export class ProcessState {
  #environment;
  #umask = process.umask();
  #workDir;
  #watched = [];
  #globals;
  /** By place; undefined if a global has an accessor. */
  #globalValues;
  #accessors = [];
  #listeners;
  #dispatcher;
  #spawned = false;
  #reachedCode = false;
  #closed = false;
  #watchesCode = false;

  /** Called before any of the author's code has run. */
  constructor(workDir) {
    this.#workDir = workDir;
    this.#watchSpawning();
    this.#watchInspection();
    this.#watchClosing();
    syncBuiltinESMExports();
    // biome-ignore lint/style/noProcessEnv: this is what the author's code sees of its environment, not our configuration.
    this.#environment = { ...process.env };
    for (const name of PLAIN) this.#watch(globalThis[name]);
    for (const name of PROTOTYPED) {
      this.#watch(globalThis[name]);
      this.#watch(globalThis[name].prototype);
    }
    // Since Node 22 the first look at the names of `fetch` loads it, which adds names.
    for (const key of Reflect.ownKeys(globalThis)) Object.getOwnPropertyDescriptor(globalThis, key);
    this.#globals = Reflect.ownKeys(globalThis);
    this.#globalValues = this.#globals.map((key) => {
      const { value, get } = Object.getOwnPropertyDescriptor(globalThis, key);
      // The others load a module when they are first read.
      if (get) this.#accessors.push({ key, get, value: SET_INSIDE.has(key) ? get.call(globalThis) : undefined });
      return value;
    });
  }

  /** True for code after which a check of every built-in is worth its time. */
  canChange(code) {
    return CAN_CHANGE.test(code);
  }

  /** The environment is that of the process's start, plus this step's names. */
  reset({ step, key, try: tryNumber, in: values }) {
    // biome-ignore lint/style/noProcessEnv: as above.
    const environment = process.env;
    for (const name of Object.keys(environment)) {
      if (!(name in this.#environment) && !name.startsWith('STEP_')) delete environment[name];
    }
    for (const name in this.#environment) {
      if (environment[name] !== this.#environment[name]) environment[name] = this.#environment[name];
    }
    environment.STEP_NAME = step;
    environment.STEP_KEY = key;
    environment.STEP_TRY = String(tryNumber);
    environment.STEP_DIR = this.#workDir;
    if (values !== undefined) environment.STEP_IN = values;
    else delete environment.STEP_IN;
    process.umask(this.#umask);
    this.count();
    process.exitCode = undefined;
  }

  /** Called before a step that can change nothing that is restored. */
  count() {
    // Not before the first such step, so that a process that only runs plain code pays nothing for it.
    if (!this.#watchesCode) this.#watchCode();
    this.#watchesCode = true;
    // Counted at the first step: while the runner's own modules load, the engine also adds listeners.
    this.#listeners ??= listenerCount();
    this.#spawned = false;
    this.#reachedCode = false;
  }

  /** True when the step reached functions that create code from text, or that format prints. */
  reachedCode() {
    return this.#reachedCode;
  }

  /** True when the step started a process. */
  spawned() {
    return this.#spawned;
  }

  /**
   * True when the step closed a descriptor of the runner, or left a global name, a changed global, a listener of the
   * process or, with `thorough`, a changed built-in.
   */
  isChanged(thorough) {
    if (this.#closed) return true;
    const globals = Reflect.ownKeys(globalThis);
    if (globals.length !== this.#globals.length && !this.#isFetchAlone(globals)) return true;
    if (listenerCount() !== this.#listeners) return true;
    for (let i = 0; i < this.#globals.length; i++) {
      const value = this.#globalValues[i];
      if (value !== undefined && !Object.is(globalThis[this.#globals[i]], value)) return true;
    }
    if (!this.#accessors.every(isOwn)) return true;
    if (!thorough) return false;
    for (const { object, keys, values } of this.#watched) {
      if (Reflect.ownKeys(object).length !== keys.length) return true;
      for (let i = 0; i < keys.length; i++) if (values[i] !== undefined && object[keys[i]] !== values[i]) return true;
    }
    return false;
  }

  /** The first fetch of Node 20 keeps its connections under a global symbol; anything else there is the step's. */
  #isFetchAlone(globals) {
    if (globals.length !== this.#globals.length + 1 || !(DISPATCHER in globalThis)) return false;
    if (this.#globals.includes(DISPATCHER)) return false;
    this.#dispatcher ??= globalThis[DISPATCHER];
    return globalThis[DISPATCHER] === this.#dispatcher;
  }

  #watch(object) {
    const keys = Reflect.ownKeys(object);
    // Only functions: other values may change by themselves, and accessors may be replaced by their value at the first
    // use.
    const values = keys.map((key) => {
      const { value } = Object.getOwnPropertyDescriptor(object, key);
      return typeof value === 'function' ? value : undefined;
    });
    this.#watched.push({ object, keys, values });
  }

  /** The parser cannot see which member a name built at run time refers to. */
  #watchCode() {
    const reached = () => {
      this.#reachedCode = true;
    };
    for (const it of [() => {}, async () => {}, function* () {}, async function* () {}]) {
      const prototype = Object.getPrototypeOf(it);
      const { value: make } = Object.getOwnPropertyDescriptor(prototype, 'constructor');
      Object.defineProperty(prototype, 'constructor', {
        configurable: true,
        get() {
          reached();
          return make;
        },
        // Like a value of a prototype: the function gets its own member.
        set(value) {
          Object.defineProperty(this, 'constructor', { value, writable: true, enumerable: true, configurable: true });
        },
      });
    }
  }

  /** Through this symbol's functions code reaches what formats the prints of all steps. */
  #watchInspection() {
    const reached = () => {
      this.#reachedCode = true;
    };
    const symbolOf = Symbol.for;
    Symbol.for = (key) => {
      const symbol = symbolOf(key);
      if (symbol === inspect.custom) reached();
      return symbol;
    };
  }

  #watchSpawning() {
    const spawned = () => {
      this.#spawned = true;
    };
    const { prototype } = childProcess.ChildProcess;
    const { spawn } = prototype;
    prototype.spawn = function (...args) {
      spawned();
      return spawn.apply(this, args);
    };
    for (const name of SPAWNING) {
      const original = childProcess[name];
      childProcess[name] = (...args) => {
        spawned();
        return original(...args);
      };
    }
  }

  #watchClosing() {
    for (const name of ['close', 'closeSync']) {
      const original = fs[name];
      fs[name] = (descriptor, ...rest) => {
        if (descriptor <= OWN_DESCRIPTORS_MAX) this.#closed = true;
        return original(descriptor, ...rest);
      };
    }
  }
}

/** True for a global that has its accessor, or the value with which its accessor replaces itself. */
function isOwn(known) {
  const now = Object.getOwnPropertyDescriptor(globalThis, known.key);
  if (now === undefined) return false;
  if (now.get === known.get) return known.value === undefined || Object.is(now.get.call(globalThis), known.value);
  known.loaded ??= known.get.call(globalThis);
  return Object.is(now.value, known.loaded);
}

function listenerCount() {
  let count = 0;
  for (const event of process.eventNames()) count += process.listenerCount(event);
  return count;
}
