// Moves static imports out of a function's body. The engine itself finds them, because a line that looks like an import
// may be text inside a template.
import { Script } from 'node:vm';
import { asSyntaxFailure, lineIn } from './step-error.mjs';

const IMPORTS_MAX = 200;
const IMPORT_STATEMENT =
  /^([ \t]*import\b(?:[^'"`;]*?\bfrom)?\s*(?:'[^'\n]*'|"[^"\n]*")(?:\s*with\s*\{[^}]*\})?[ \t]*;?)/;

/** `wrap` makes a script of a body; `firstLine` is its first line's number in the file that errors name. */
export function hoistImports(code, wrap, firstLine, file) {
  const imports = [];
  const lines = code.split('\n');
  for (;;) {
    const body = lines.join('\n');
    try {
      // A script has no import.meta; the module made from the body does.
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
      // Its own line breaks are kept, so that the lines below keep their numbers.
      const kept = '\n'.repeat(match[1].split('\n').length - 1);
      const after = lines.slice(index).join('\n').slice(match[1].length);
      lines.splice(index, lines.length - index, ...`${kept}${after}`.split('\n'));
    }
  }
}
