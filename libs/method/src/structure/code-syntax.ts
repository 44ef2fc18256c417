// Owns reading node code without running it: whether it parses as the runner executes it, as the body of a strict async
// function with its values as parameters and its imports at the top of a module.
import { type FunctionExpression, Parser } from 'acorn';
import { rangeInside, type SourceScalar } from '../source/source-node.ts';
import type { Range, SourceText } from '../source/source-text.ts';

/** Offset in the code; `message` in acorn's words. */
interface CodeFault {
  readonly at: number;
  readonly message: string;
}

const LIB_EXPORT = /^export(?=\s+(?:async|function|class|const|let|var)\b)/gm;
const TOO_DEEP = 'it nests too deeply';
/** Each declaration looks through the scopes around it. */
const SCOPES_MAX = 200;
/**
 * Bounds the calls through which acorn nests, weighted by the stack that they and the calls between them use. Acorn
 * must never get near the stack's end: when V8 compiles a regular expression there, it ends the process and throws
 * nothing.
 */
const WEIGHT_MAX = 1500;
const WEIGHTS: ReadonlyMap<string, number> = new Map([
  // Once for each operator of a long sum.
  ['parseExprOp', 1],
  ...[
    ...['parseStatement', 'parseMaybeAssign', 'parseMaybeUnary', 'parseExprAtom', 'parseBindingAtom'],
    ...['regexp_disjunction', 'regexp_eatNestedClass'],
  ].map((name): [string, number] => [name, 3]),
]);
const MESSAGE_CHARACTERS_MAX = 120;
const ENDS_EARLY = 'a bracket or a text is not closed, or a bracket is closed twice';
const NOT_ONE = 'a bracket is closed that was not opened';

/** The parts of acorn's parser that plugins may use; its own types leave them out. */
interface ParserInside {
  readonly scopeStack: readonly unknown[];
  readonly pos: number;
  enterScope(flags: number): void;
  exitScope(): void;
  raise(at: number, message: string): never;
}
type InsideClass = new (
  ...given: unknown[]
) => ParserInside & {
  parseImport(node: { start: number; specifiers: readonly { local: { name: string } }[] }): unknown;
  parseExport(node: { start: number }): unknown;
};

/** The runner moves imports to the top of a module of the step's own: their names are in a scope around the code's. */
const CodeParser = Parser.extend((Base) => {
  const Inside = Base as unknown as InsideClass;
  class WithImportsAround extends Inside {
    private readonly imported = new Set<string>();
    weight = 0;

    override enterScope(flags: number): void {
      if (this.scopeStack.length > SCOPES_MAX) this.raise(this.pos, TOO_DEEP);
      super.enterScope(flags);
    }

    override parseImport(node: { start: number; specifiers: readonly { local: { name: string } }[] }): unknown {
      this.enterScope(0);
      const parsed = super.parseImport(node);
      this.exitScope();
      for (const { local } of node.specifiers) {
        if (this.imported.has(local.name)) this.raise(node.start, `"${local.name}" is imported twice`);
        this.imported.add(local.name);
      }
      return parsed;
    }

    override parseExport(node: { start: number }): unknown {
      return this.raise(node.start, "'export' has no meaning in a step");
    }
  }
  const inside = WithImportsAround.prototype as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const [name, weight] of WEIGHTS) {
    const call = inside[name];
    if (call === undefined) throw new Error(`acorn has no ${name}`);
    inside[name] = function (this: WithImportsAround, ...given: unknown[]) {
      this.weight += weight;
      if (this.weight > WEIGHT_MAX) this.raise(this.pos, TOO_DEEP);
      const made = call.apply(this, given);
      this.weight -= weight;
      return made;
    };
  }
  return WithImportsAround as unknown as typeof Base;
});

/** `names`: what the code sees as variables. Null: it parses. Bounded by the code's size; never throws. */
export function nodeCodeFault(code: string, names: readonly string[]): CodeFault | null {
  const parsed = parseNodeCode(code, names);
  return 'message' in parsed ? parsed : null;
}

/** As `nodeCodeFault`; the function whose body the code is. */
export function parseNodeCode(code: string, names: readonly string[]): FunctionExpression | CodeFault {
  const head = `(async function (${names.join(', ')}) {\n`;
  const text = `${head}${code}\n})`;
  try {
    const { body } = CodeParser.parse(text, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      allowImportExportEverywhere: true,
    });
    const [statement] = body;
    const isOne = body.length === 1 && statement?.type === 'ExpressionStatement';
    const whole = isOne && statement.expression.type === 'FunctionExpression' && statement.expression;
    if (whole && whole.end === text.length - 1) return whole;
    // The code closes the function around it.
    return { at: whole ? whole.end - head.length : closedAt(body) - head.length, message: NOT_ONE };
  } catch (error) {
    if (error instanceof RangeError) return { at: 0, message: TOO_DEEP };
    return faultOf(error, head.length, code.length);
  }
}

/** The variables of a node step, in the runner's order. */
export function nodeParameters(lib: { readonly node?: unknown }, names: Iterable<string>): string[] {
  return [...(lib.node === undefined ? [] : ['lib']), 'step', ...names];
}

/** Of `lib`: what it exports is a member of `lib` with or without the word. */
export function nodeLibFault(code: string): CodeFault | null {
  return nodeCodeFault(code.replace(LIB_EXPORT, '      '), []);
}

function closedAt(body: readonly { readonly end: number }[]): number {
  return (body[0]?.end ?? 1) - 1;
}

function faultOf(error: unknown, headLength: number, codeLength: number): CodeFault {
  const position = typeof error === 'object' && error !== null && 'pos' in error ? Number(error.pos) : headLength;
  const said = error instanceof Error ? error.message.replace(/ \(\d+:\d+\)$/, '') : 'it cannot be read';
  const message = said.startsWith('Not enough stack') ? TOO_DEEP : said.slice(0, MESSAGE_CHARACTERS_MAX);
  const at = Math.max(0, position - headLength);
  return at > codeLength ? { at: codeLength, message: ENDS_EARLY } : { at, message };
}

// The places of code in its source: a line and column of the code become those of the file, which indents it.

/** The one character at an offset of a scalar's text; the whole scalar where its characters are not those of the file. */
export function rangeOfCode(source: SourceText, scalar: SourceScalar, at: number): Range {
  if (scalar.textAt !== null) return rangeInside(scalar, at, at + 1);
  const before = scalar.text.slice(0, at).split('\n');
  const line = scalar.text.split('\n')[before.length - 1] ?? '';
  const first = source.positionOf(scalar.contentAt).line;
  const indent = indentOf(source, line, first + before.length - 1);
  if (indent === null) return scalar.range;
  const start = source.offsetOf(first + before.length - 1, 1 + indent + (before.at(-1)?.length ?? 0));
  return [start, start + 1];
}

/** Characters before a line of code on its line of the file; null: that line does not hold it as it is. */
export function indentOf(source: SourceText, codeLine: string, line: number): number | null {
  const text = source.lineAt(source.offsetOf(line, 1)).replace(/\r$/, '');
  if (codeLine === '') return text.trim() === '' ? 0 : null;
  const at = text.lastIndexOf(codeLine);
  return at < 0 ? null : at;
}
