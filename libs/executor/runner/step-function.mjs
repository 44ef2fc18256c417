// Turns a step's code into a function, once for each step. The code becomes a separate module, so that `import` works;
// it is never concatenated with values.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hoistImports } from './hoisted-imports.mjs';
import { asSyntaxFailure } from './step-error.mjs';

const LIB_NAME = /^(?:export\s+)?(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s+([A-Za-z_$][\w$]*)/gm;
const LIB_EXPORT = /^export(?=\s+(?:async|function|class|const|let|var)\b)/gm;

export class StepFunctions {
  #lib = null;

  constructor(codeDir) {
    this.codeDir = codeDir;
    this.sources = new Map();
    this.functions = new Map();
  }

  /** `{ code, line }`: what steps see as `lib`. */
  learnLib(message) {
    this.#lib = message;
  }

  /** `{ step, code, line, names }`: `line` is the source line of the code's first line, `names` its parameters. */
  learn(message) {
    this.sources.set(message.step, message);
  }

  async get(step) {
    let run = this.functions.get(step);
    if (run === undefined) {
      run = await this.load(this.sources.get(step));
      this.functions.set(step, run);
    }
    return run;
  }

  async load({ step, code, line, names }) {
    if (this.#lib === null) return this.#module(step, `step_${step}`, code, line, ['step', ...names]);
    this.makeLib ??= await this.#loadLib(this.#lib);
    const run = await this.#module(step, `step_${step}`, code, line, ['lib', 'step', ...names]);
    // Created again for each step: the next run must not see its variables.
    return async (...values) => run(await this.makeLib(), ...values);
  }

  /** The functions, classes and variables at the beginning of a line are the members of `lib`. */
  #loadLib({ code, line }) {
    const plain = code.replace(LIB_EXPORT, '      ');
    const names = new Set([...code.matchAll(LIB_NAME)].map(([, name]) => name));
    // `typeof`, since a line that looks like a declaration may be inside a text.
    const members = [...names].map((name) => `...(typeof ${name} === 'undefined' ? {} : { ${name} })`);
    return this.#module('lib', 'lib', plain, line, [], `\nreturn { ${members.join(', ')} };`);
  }

  async #module(fileName, functionName, code, line, parameters, tail = '') {
    const file = join(this.codeDir, `${fileName}.mjs`);
    // As many line breaks before the code as there are lines before it in the source, so that stacks name its lines.
    const before = '\n'.repeat(line - 1);
    const head = `async function ${functionName}(${parameters.join(', ')}) {`;
    const wrap = (body) => `${before}"use strict"; (${head}${body}${tail}\n})`;
    const { imports, body } = hoistImports(code, wrap, line, file);
    writeFileSync(file, `${before}${imports.join(' ')} export ${head}${body}${tail}\n}\n`);
    try {
      const module = await import(pathToFileURL(file).href);
      return module[functionName];
    } catch (error) {
      throw error instanceof SyntaxError ? asSyntaxFailure(error, file) : error;
    }
  }
}
