// Owns the shape of a finding in a method's source, and the order and number of the findings that are returned.

export type Severity = 'error' | 'warning';

/**
 * One finding. `code` is `M…` (method/2) or `U…` (workflow/1). `path` names the place, such as `steps[2].http.get`.
 * Lines and columns count from 1, columns in UTF-16 units; the end is exclusive.
 */
export interface Diagnostic {
  code: string;
  severity: Severity;
  message: string;
  path: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  hint?: string;
}

/** A place in a source, as findings name it. */
export type SourcePlace = Pick<Diagnostic, 'path' | 'line' | 'column' | 'end_line' | 'end_column'>;

const DIAGNOSTICS_MAX = 100;

/** The findings in file order, at most 100. Errors come first: warnings must never hide that a source is refused. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const inFileOrder = (a: Diagnostic, b: Diagnostic) => a.line - b.line || a.column - b.column;
  const errors = diagnostics.filter((d) => d.severity === 'error').sort(inFileOrder);
  const warnings = diagnostics.filter((d) => d.severity === 'warning').sort(inFileOrder);
  return [...errors, ...warnings].slice(0, DIAGNOSTICS_MAX).sort(inFileOrder);
}
