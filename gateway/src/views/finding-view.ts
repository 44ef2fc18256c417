// A finding in a reply that is not an error: warnings of a save, and the findings of a validation.
import type { Finding } from '@methods/proto/error/v1/error_detail_pb';

export interface FindingView {
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly severity?: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  readonly end_line?: number;
  readonly end_column?: number;
  readonly hint?: string;
}

export function findingView(finding: Finding): FindingView {
  const { path, code, message, severity, line, column, endLine, endColumn, hint } = finding;
  return {
    path,
    code,
    message,
    ...(severity === '' ? {} : { severity }),
    ...(line > 0 ? { line, column, end_line: endLine, end_column: endColumn } : {}),
    ...(hint === '' ? {} : { hint }),
  };
}
