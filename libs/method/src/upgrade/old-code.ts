// Owns code of workflow/1: pasted names become variables given by `in`, with names the script does not use itself.
import { NameBook } from '../draft/names.ts';
import { isVariableName } from '../source/names.ts';
import type { Piece, ScannedScript } from './code-piece.ts';
import type { CodeLanguage } from './old-workflow.ts';
import type { Paste, PastedNames } from './pasted-names.ts';
import { scanNode } from './scan-node.ts';
import { scanPython } from './scan-python.ts';
import { scanShell } from './scan-shell.ts';
import { shellVariables } from './shell-words.ts';

/** Called for parts that cannot be kept unchanged; `start` is an offset in the old code. */
export interface CodeReports {
  unknown(paste: Paste, start: number): void;
  quotedHeredoc(paste: Paste, start: number): void;
  doubt(paste: Paste, start: number, why: string, variable: string): void;
  oneProcess(found: string): void;
}

export interface UpgradedCode {
  readonly code: string;
  /** Variable to the expression without `=`. */
  readonly variables: ReadonlyMap<string, string>;
}

const SCAN: Readonly<Record<CodeLanguage, (text: string, names: PastedNames) => ScannedScript>> = {
  shell: scanShell,
  python: scanPython,
  node: scanNode,
};

export function upgradeCode(
  code: string,
  language: CodeLanguage,
  names: PastedNames,
  reports: CodeReports,
): UpgradedCode {
  const { pieces, closes } = SCAN[language](code, names);
  const own = pieces.map((piece) => (piece.kind === 'code' ? piece.text : ' {} ')).join('');
  const variables = new Variables(language === 'shell' ? shellVariables(own) : wordsOf(own));
  if (language === 'python') {
    const found = ONE_PROCESS.exec(own);
    if (found) reports.oneProcess(found[0].trim());
  }
  const parts = pieces.map((piece) => writePiece(piece, variables, closes, reports));
  const text = `${parts.join('').trimEnd()}\n`;
  return { code: text, variables: variables.all };
}

// The code runs as the body of a function in a process of its own: names at its top are not global, and not to be found
// again by a process started from it.
const ONE_PROCESS = /^[ \t]*global[ \t]+\w+|\bmultiprocessing\b|\bProcessPoolExecutor\b/m;

function writePiece(piece: Piece, variables: Variables, closes: boolean, reports: CodeReports): string {
  if (piece.kind === 'code' || piece.kind === 'text') return piece.text;
  const { paste, start } = piece;
  if (piece.kind === 'stuck') {
    reports.quotedHeredoc(paste, start);
    return '';
  }
  if (!paste.reference) {
    reports.unknown(paste, start);
    return '';
  }
  const variable = variables.of(paste.reference);
  const doubt = piece.doubt ?? (closes ? undefined : 'is in code whose quotes do not close; check the result');
  if (doubt !== undefined) reports.doubt(paste, start, doubt, variable);
  return piece.write(variable);
}

function wordsOf(code: string): Set<string> {
  return new Set(code.match(/(?<![.\w$])[A-Za-z_$][\w$]*/g));
}

class Variables {
  readonly all = new Map<string, string>();
  readonly #book: NameBook;
  readonly #byName = new Map<string, string>();

  constructor(taken: Iterable<string>) {
    this.#book = new NameBook(taken);
  }

  of(reference: { readonly name: string; readonly expression: string }): string {
    const known = this.#byName.get(reference.name);
    if (known !== undefined) return known;
    const variable = this.#book.take(reference.name, isVariableName);
    this.#byName.set(reference.name, variable);
    this.all.set(variable, reference.expression);
    return variable;
  }
}
