// Owns pasted names in shell: the quoting around each, followed through nested substitutions, and its replacement.
import { PieceList, type ScannedScript } from './code-piece.ts';
import type { Paste, PastedNames } from './pasted-names.ts';
import { endOfHeredoc, type Heredoc, heredocAt } from './shell-words.ts';

/** The constructs around the scanner. */
type Frame =
  | { readonly kind: 'code'; readonly end: ')' | '`' | null; parens: number; cases: number; command: boolean }
  /** `"…"`, or the body of an open heredoc, where `"` is an ordinary character. */
  | { readonly kind: 'double' | 'heredoc' }
  /** `${…}`. */
  | { readonly kind: 'parameter'; readonly quoted: boolean }
  /** `$((…))`. */
  | { readonly kind: 'arithmetic'; parens: number };

type CodeFrame = Extract<Frame, { kind: 'code' }>;

const WORD = /[A-Za-z_][\w-]*/y;
const BEFORE_COMMAND = new Set(['then', 'do', 'else', 'elif', 'if', 'while', 'until', 'time']);
const LOOP = /(?:^|[\s;])(?:for|select)\s+\w+\s+in\s[^;\n]*$/;
const LOOP_CHARACTERS_MAX = 200;
const FRAMES_MAX = 1_000;
/** Heredocs within substitutions within heredocs. */
const BODIES_MAX = 20;

/** Splits a shell script; bash itself is never run. */
export function scanShell(text: string, names: PastedNames): ScannedScript {
  const scanner = new ShellScanner(new PieceList(text, names));
  scanner.run(0, text.length, codeFrame(null));
  return { pieces: scanner.list.pieces, closes: scanner.closes };
}

function codeFrame(end: CodeFrame['end']): CodeFrame {
  return { kind: 'code', end, parens: 0, cases: 0, command: true };
}

class ShellScanner {
  readonly list: PieceList;
  closes = true;
  #at = 0;
  #end = 0;
  #stack: Frame[] = [];
  #heredocs: Heredoc[] = [];
  #level = 0;

  constructor(list: PieceList) {
    this.list = list;
  }

  /** Scans a stretch that starts inside `base`. */
  run(from: number, to: number, base: Frame): void {
    const outer = { at: this.#at, end: this.#end, stack: this.#stack, heredocs: this.#heredocs };
    this.#at = from;
    this.#end = to;
    this.#stack = [base];
    this.#heredocs = [];
    this.#level++;
    while (this.#at < to) this.#step();
    this.#level--;
    this.list.keep('code', to);
    if (this.#stack.length !== 1) this.closes = false;
    this.#at = outer.at;
    this.#end = outer.end;
    this.#stack = outer.stack;
    this.#heredocs = outer.heredocs;
  }

  #step(): void {
    const { text, names } = this.list;
    const frame = this.#stack.at(-1) ?? codeFrame(null);
    const at = this.#at;
    const paste = names.at(text, at);
    if (paste) return this.#paste(at, at, paste, frame);
    const character = text.charAt(at);
    if (character === '\\') return this.#backslash(frame);
    if (character === '$') return this.#dollar(frame);
    if (character === '`') return this.#backtick(frame);
    if (frame.kind === 'code') return this.#code(frame, character);
    if (frame.kind === 'arithmetic') return this.#arithmetic(frame, character);
    this.#at++;
    if (character === '"' && frame.kind === 'double') this.#pop();
    else if (character === '"' && frame.kind === 'parameter') this.#push({ kind: 'double' });
    else if (character === "'" && frame.kind === 'parameter' && !frame.quoted) this.#single(at, false);
    else if (character === '}' && frame.kind === 'parameter') this.#pop();
  }

  #push(frame: Frame): void {
    // Only a hostile script nests so deep; its places after that are guesses.
    if (this.#stack.length < FRAMES_MAX) this.#stack.push(frame);
    else this.closes = false;
  }

  #pop(): void {
    if (this.#stack.length > 1) this.#stack.pop();
    else this.closes = false;
  }

  /** `from` is where the replaced text begins: at the paste, or at a `$` or `\` before it. */
  #paste(from: number, start: number, paste: Paste, frame: Frame): void {
    this.list.keep('code', from);
    this.#at = paste.end;
    const backslash = start > from && this.list.text.charAt(from) === '\\' ? '\\\\' : '';
    if (start > from && backslash === '') {
      const write = frame.kind === 'code' ? (v: string) => `"\${!${v}}"` : (v: string) => `\${!${v}}`;
      this.list.paste(start, paste, write, 'was pasted as the name of a variable; it is looked up by that name now');
    } else if (frame.kind === 'arithmetic') {
      this.list.paste(start, paste, (v) => `\${${v}}`, 'is calculated with; make sure that it is a number');
    } else if (frame.kind === 'code' || (frame.kind === 'parameter' && !frame.quoted)) {
      this.list.paste(start, paste, (v) => `"\${${v}}"`, this.#doubt(frame, start));
      if (frame.kind === 'code') frame.command = false;
    } else this.list.paste(start, paste, (v) => `${backslash}\${${v}}`);
  }

  /** Quoted, a value is always one word; where the shell needs several, a person must look. */
  #doubt(frame: Frame, start: number): string | undefined {
    if (frame.kind !== 'code') return undefined;
    if (frame.command) return 'was pasted as a command; it is one word now';
    const line = this.list.text.slice(Math.max(0, start - LOOP_CHARACTERS_MAX), start);
    return LOOP.test(line) ? 'was pasted as a list to loop over; it is one item now' : undefined;
  }

  #backslash(frame: Frame): void {
    const paste = this.list.names.at(this.list.text, this.#at + 1);
    if (paste) this.#paste(this.#at, this.#at + 1, paste, frame);
    else this.#at += 2;
  }

  #dollar(frame: Frame): void {
    const { text, names } = this.list;
    const at = this.#at;
    const named = names.at(text, at + 1);
    const inBraces = text.charAt(at + 1) === '{' ? names.at(text, at + 2) : undefined;
    // `${{{x}}}` names a variable by the value; `${{x}}` is a `$` before the value.
    if (inBraces && text.charAt(inBraces.end) === '}') {
      this.#push({ kind: 'parameter', quoted: frame.kind !== 'code' });
      this.list.keep('code', at + 2);
      this.list.paste(at + 2, inBraces, (v) => `!${v}`, 'was pasted as the name of a variable');
      this.#at = inBraces.end;
    } else if (named) this.#paste(at, at + 1, named, frame);
    else if (text.startsWith('$((', at)) this.#open(3, { kind: 'arithmetic', parens: 0 });
    else if (text.startsWith('$(', at)) this.#open(2, codeFrame(')'));
    else if (text.startsWith('${', at)) {
      const quoted = frame.kind === 'parameter' ? frame.quoted : frame.kind !== 'code';
      this.#open(2, { kind: 'parameter', quoted });
    } else if (frame.kind === 'code' && text.startsWith("$'", at)) {
      this.#at += 2;
      this.#single(at + 1, true);
    } else this.#at++;
  }

  #open(characters: number, frame: Frame): void {
    this.#at += characters;
    this.#push(frame);
  }

  #backtick(frame: Frame): void {
    this.#at++;
    if (frame.kind === 'code' && frame.end === '`') this.#pop();
    else this.#push(codeFrame('`'));
  }

  #arithmetic(frame: Extract<Frame, { kind: 'arithmetic' }>, character: string): void {
    this.#at++;
    if (character === '(') frame.parens++;
    else if (character === ')' && frame.parens > 0) frame.parens--;
    else if (character === ')') {
      if (this.list.text.charAt(this.#at) === ')') this.#at++;
      this.#pop();
    }
  }

  #code(frame: CodeFrame, character: string): void {
    const { text } = this.list;
    const at = this.#at;
    WORD.lastIndex = at;
    const word = WORD.exec(text)?.[0];
    if (word !== undefined) {
      this.#at += word.length;
      if (frame.command && word === 'case') frame.cases++;
      if (frame.command && word === 'esac' && frame.cases > 0) frame.cases--;
      frame.command = frame.command && BEFORE_COMMAND.has(word);
      return;
    }
    if (character === '<' && text.startsWith('<<', at)) return this.#redirection();
    if (character === '#' && /^$|[\s;&|()]/.test(text.charAt(at - 1))) {
      const lineEnd = text.indexOf('\n', at);
      this.list.keep('code', at);
      this.#at = lineEnd < 0 ? this.#end : Math.min(lineEnd, this.#end);
      return this.list.keep('text', this.#at);
    }
    this.#at++;
    if (character === '\n') {
      frame.command = true;
      this.#bodies();
    } else if (character === "'") this.#single(at, false);
    else if (character === '"') this.#push({ kind: 'double' });
    else if (character === '(') {
      if (frame.command && text.charAt(this.#at) === '(') this.#open(1, { kind: 'arithmetic', parens: 0 });
      else frame.parens++;
    } else if (character === ')') this.#close(frame);
    if (/[;&|()]/.test(character)) frame.command = true;
    else if (!/[\s{!]/.test(character)) frame.command = false;
  }

  #close(frame: CodeFrame): void {
    if (frame.parens > 0) frame.parens--;
    // Within `case`, a lone `)` ends a pattern.
    else if (frame.cases === 0 && frame.end === ')') this.#pop();
  }

  #redirection(): void {
    const { text } = this.list;
    if (text.startsWith('<<<', this.#at)) {
      this.#at += 3;
      return;
    }
    const found = heredocAt(text, this.#at);
    if (found) this.#heredocs.push(found.heredoc);
    this.#at = found?.end ?? this.#at + 2;
  }

  /** The bodies of the heredocs opened in the line that just ended. */
  #bodies(): void {
    const { text, names } = this.list;
    for (const heredoc of this.#heredocs.splice(0)) {
      const start = this.#at;
      const end = Math.min(endOfHeredoc(text, start, heredoc), this.#end);
      this.list.keep('code', start);
      if (heredoc.quoted) {
        for (const found of names.all(text.slice(start, end))) this.list.stuck(start + found.start, found.paste);
        this.list.keep('text', end);
      } else if (this.#level < BODIES_MAX) this.run(start, end, { kind: 'heredoc' });
      else this.closes = false;
      const lineEnd = text.indexOf('\n', end);
      this.#at = lineEnd < 0 ? this.#end : Math.min(lineEnd, this.#end);
    }
  }

  /** From behind the opening quote to behind the closing one. */
  #single(opened: number, escapes: boolean): void {
    const { text, names } = this.list;
    this.list.keep('code', opened);
    for (let at = opened + 1; at < this.#end; ) {
      const paste = names.at(text, at);
      if (paste) {
        this.list.keep('text', at);
        this.list.paste(at, paste, (v) => `'"\${${v}}"${escapes ? '$' : ''}'`);
        at = paste.end;
      } else if (text.charAt(at) === "'") {
        this.#at = at + 1;
        return this.list.keep('text', this.#at);
      } else at += escapes && text.charAt(at) === '\\' ? 2 : 1;
    }
    this.closes = false;
    this.#at = this.#end;
  }
}
