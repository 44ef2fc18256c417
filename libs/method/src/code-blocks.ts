// Owns the code of a method block by block, for callers that parse it with an interpreter, and the finding for code
// that does not parse, at its place inside the source.
import type { CodeLanguage, CompiledMethod, CompiledStep } from './compiled-method.ts';
import type { Diagnostic } from './diagnostic.ts';
import { SourceText } from './source/source-text.ts';
import { indentOf } from './structure/code-syntax.ts';

export interface PlacedCode {
  /** As in diagnostics: `steps[2].python`. */
  readonly path: string;
  readonly language: CodeLanguage;
  readonly code: string;
  /** 1-based source line of the code's first line. */
  readonly line: number;
  /** Variables of a step's code; null: it is that of `lib`. */
  readonly names: readonly string[] | null;
}

/** Where an interpreter gave up; line and column from 1 in the code, column 0 where it is not known. */
export interface UnreadableCode {
  readonly block: PlacedCode;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** In file order, `lib` first. */
export function codeBlocks(method: CompiledMethod): PlacedCode[] {
  const blocks: PlacedCode[] = [];
  for (const language of ['node', 'python', 'shell'] as const) {
    const block = method.lib[language];
    if (block !== undefined) blocks.push({ path: `lib.${language}`, language, ...block, names: null });
  }
  const inside = (steps: readonly CompiledStep[], path: string) => {
    for (const [index, step] of steps.entries()) {
      const at = `${path}[${index}]`;
      if (step.kind === 'steps' || step.kind === 'parallel') inside(step.steps, `${at}.${step.kind}`);
      else if (step.kind === 'node' || step.kind === 'python' || step.kind === 'shell') {
        const { kind, code, codeLine, inputs } = step;
        blocks.push({ path: `${at}.${kind}`, language: kind, code, line: codeLine, names: [...inputs.keys()] });
      }
    }
  };
  inside(method.steps, 'steps');
  inside(method.onFailure, 'on_failure');
  inside(method.finally, 'finally');
  return blocks;
}

/** The finding M114. `source`: the text of the file. */
export function unreadableFinding(source: string, unreadable: UnreadableCode): Diagnostic {
  const { block, message } = unreadable;
  const codeLine = block.code.split('\n')[unreadable.line - 1] ?? '';
  const text = new SourceText(source);
  const indent = indentOf(text, codeLine, block.line + unreadable.line - 1);
  const line = indent === null ? block.line : block.line + unreadable.line - 1;
  const inLine = unreadable.column > 0 ? unreadable.column : 1 + codeLine.search(/\S|$/);
  const column = indent === null ? 1 : indent + Math.min(inLine, codeLine.length + 1);
  const place = { line, column, end_line: line, end_column: column + 1 };
  return {
    code: 'M114',
    severity: 'error',
    message: `the code does not parse: ${message}`,
    path: block.path,
    ...place,
  };
}
