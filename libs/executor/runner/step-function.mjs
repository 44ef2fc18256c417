// Turns a step's code into a function, once for each step. The code becomes a module of its own, so that `import`
// works; it is never put together with values.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { lineIn } from './step-error.mjs';

const IMPORTS_MAX = 200;
const IMPORT_STATEMENT =
  /^([ \t]*import\b(?:[^'"`;]*?\bfrom)?\s*(?:'[^'\n]*'|"[^"\n]*")(?:\s*with\s*\{[^}]*\})?[ \t]*;?)/;

export class StepFunctions {
  constructor(codeDir) {
    this.codeDir = codeDir;
    this.sources = new Map();
    this.functions = new Map();
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
    const file = join(this.codeDir, `${step}.mjs`);
    // As many line breaks before the code as there are lines before it in the source: stacks then name its lines.
    const before = '\n'.repeat(line - 1);
    const head = `async function step_${step}(${['step', ...names].join(', ')}) {`;
    const { imports, body } = hoistImports(code, (body) => `${before}"use strict"; (${head}${body}\n})`, line, file);
    writeFileSync(file, `${before}${imports.join(' ')} export ${head}${body}\n}\n`);
    try {
      const module = await import(pathToFileURL(file).href);
      return module[`step_${step}`];
    } catch (error) {
      throw error instanceof SyntaxError ? asSyntaxFailure(error, file) : error;
    }
  }
}

/**
 * Moves static imports out of the function's body. The engine itself says where one stands, because a line that looks
 * like an import may be text inside a template.
 */
function hoistImports(code, wrap, firstLine, file) {
  const imports = [];
  const lines = code.split('\n');
  for (;;) {
    const body = lines.join('\n');
    try {
      // A script knows no import.meta; the module that is made of the body does.
      new Script(wrap(body.replaceAll('import.meta', '       meta')), { filename: file });
      return { imports, body };
    } catch (error) {
      const index = lineIn(error.stack, file) - firstLine;
      const isImport = /^Cannot use import statement/.test(error.message) && imports.length < IMPORTS_MAX;
      const match = isImport ? IMPORT_STATEMENT.exec(lines.slice(index).join('\n')) : null;
      if (match === null) throw asSyntaxFailure(error, file);
      imports.push(
        match[1]
          .trim()
          .replace(/\s*\n\s*/g, ' ')
          .replace(/;?$/, ';'),
      );
      // Its own line breaks stay, so that the lines below keep their numbers.
      const kept = '\n'.repeat(match[1].split('\n').length - 1);
      const after = lines.slice(index).join('\n').slice(match[1].length);
      lines.splice(index, lines.length - index, ...`${kept}${after}`.split('\n'));
    }
  }
}

function asSyntaxFailure(error, file) {
  return Object.assign(new Error(error.message), {
    stepKind: 'syntax',
    stepLine: lineIn(error.stack, file) || undefined,
  });
}
