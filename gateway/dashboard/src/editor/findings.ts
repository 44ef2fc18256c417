// The validator's diagnostics of a text, as the editor marks them and as the list below it shows them.
import type { Diagnostic as Mark } from '@codemirror/lint';
import type { EditorState, Text } from '@codemirror/state';
import { compileMethod } from '@methods/method/compile';
import type { Diagnostic } from '@methods/method/diagnostic';

export function diagnosticsOf(source: string): readonly Diagnostic[] {
  return compileMethod(source).diagnostics;
}

export function findingsOf(state: EditorState): Mark[] {
  return diagnosticsOf(state.sliceDoc()).map((each) => {
    const from = placeOf(state.doc, each.line, each.column);
    return {
      from,
      to: Math.max(from, placeOf(state.doc, each.end_line, each.end_column)),
      severity: each.severity,
      source: each.code,
      message: each.hint === undefined ? each.message : `${each.message}\nhint: ${each.hint}`,
    };
  });
}

/** `line` and `column` are from 1. */
function placeOf(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(found.from + column - 1, found.to);
}
