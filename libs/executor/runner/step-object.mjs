// The object `step` that the author's code sees.
import { realpathSync, statSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';

const CHECKS_MAX = 1000;
const FILES_MAX = 1000;
const NAME_CHARACTERS_MAX = 120;

class StepFail extends Error {
  stepKind = 'exception';
}

export class StepObject {
  #send;
  #checks = 0;
  filesNamed = 0;

  /** `send` takes a message, and adds the step's number, so that messages after its end are ignored. */
  constructor({ step, key, try: tryNumber, contained }, dir, send) {
    this.#send = send;
    this.name = step;
    this.key = key;
    this.try = tryNumber;
    this.dir = dir;
    // Such code writes no file, and the folder may contain those of another step.
    if (contained)
      this.file = (path) => {
        throw missing(path);
      };
  }

  // Fields with arrow functions, so that `const { log } = step` works.
  log = (message, data) => {
    this.#send({ t: 'log', message: typeof message === 'string' ? message : show(message), data });
  };

  progress = (at, message) => {
    this.#send({ t: 'progress', at: Number(at), message: message === undefined ? undefined : String(message) });
  };

  /** Returns `ok` as a boolean; a failed check of level `error` fails the step once its code has ended. */
  check = (name, ok, { level = 'error', actual, message } = {}) => {
    if (++this.#checks > CHECKS_MAX) throw limit(`a step records at most ${CHECKS_MAX} checks`);
    if (level !== 'error' && level !== 'warn') throw new TypeError('a check has the level "error" or "warn"');
    const passed = Boolean(ok);
    this.#send({
      t: 'check',
      name: String(name).slice(0, NAME_CHARACTERS_MAX),
      ok: passed,
      level,
      actual,
      message: message === undefined ? undefined : String(message),
    });
    return passed;
  };

  /** Names a file in the working folder as part of the out; the worker collects it when the step has ended. */
  file = (path, mediaType) => {
    const full = resolve(this.dir, String(path));
    if (!full.startsWith(this.dir + sep)) throw outside();
    let info;
    try {
      if (realpathSync(full) !== full) throw outside();
      info = statSync(full);
    } catch (error) {
      if (error?.code === 'ENOENT') throw missing(path);
      throw error;
    }
    if (!info.isFile()) throw Object.assign(new Error(`step.file: ${path} is not a file`), { stepKind: 'out' });
    if (++this.filesNamed > FILES_MAX) throw limit(`a step names at most ${FILES_MAX} files`);
    return { $file: relative(this.dir, full).split(sep).join('/'), media_type: mediaType };
  };

  fail = (message, { retry } = {}) => {
    throw Object.assign(new StepFail(String(message)), { retry });
  };
}

function missing(path) {
  return Object.assign(new Error(`step.file: there is no file ${path}`), { stepKind: 'out' });
}

function outside() {
  return Object.assign(new Error('step.file: the file must be in the working folder'), { stepKind: 'out' });
}

function limit(message) {
  return Object.assign(new Error(message), { stepKind: 'limit' });
}

function show(value) {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
