// The findings in a file before it is sent, and those that only the server can see.
import type { Diagnostic } from '@methods/method/diagnostic';
import type { Config } from '../config.ts';
import { CommandError } from '../errors/command-error.ts';
import { checkFile } from '../method-file/check-file.ts';
import { diagnosticsText, type MethodFile } from '../method-file/method-file.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import type { Output } from '../terminal/output.ts';
import { countOf } from '../terminal/words.ts';

/** Shows the findings, with carets, and returns the warnings. @throws CommandError `invalid_method`. */
export async function checkSource(
  file: MethodFile,
  output: Output,
  config: Pick<Config, 'path'>,
): Promise<readonly Diagnostic[]> {
  const diagnostics = await checkFile(file, config);
  const errors = diagnostics.filter((found) => found.severity === 'error').length;
  output.complaint(diagnosticsText(file, diagnostics, output));
  if (errors === 0) return diagnostics;
  throw new CommandError('invalid_method', `${file.file} has ${countOf(errors, 'error')}`, {
    hint: `methods check ${file.file}`,
  });
}

/** The server knows the methods that are called: its findings have places too. */
export function showFindings(file: MethodFile, findings: unknown, known: readonly Diagnostic[], output: Output): void {
  const told = new Set(known.map(({ code, line, column }) => `${code} ${line} ${column}`));
  const fresh = (Array.isArray(findings) ? findings : []).flatMap((finding) => diagnosticOf(finding));
  const unknown = fresh.filter(({ code, line, column }) => !told.has(`${code} ${line} ${column}`));
  output.complaint(diagnosticsText(file, unknown, output));
}

/** A refused source is shown like one that was checked here. */
export function showRefusedSource(file: MethodFile, error: unknown, output: Output): void {
  if (error instanceof ServerRefusal && error.code === 'invalid_method') showFindings(file, error.details, [], output);
}

function diagnosticOf(finding: Partial<Diagnostic> | null): Diagnostic[] {
  const { code, message, line, column, end_line, end_column, hint } = finding ?? {};
  if (typeof code !== 'string' || typeof message !== 'string') return [];
  const at = typeof line === 'number' && typeof column === 'number' ? { line, column } : { line: 1, column: 1 };
  return [
    {
      code,
      message,
      severity: finding?.severity === 'warning' ? 'warning' : 'error',
      path: typeof finding?.path === 'string' ? finding.path : '',
      ...at,
      end_line: typeof end_line === 'number' ? end_line : at.line,
      end_column: typeof end_column === 'number' ? end_column : at.column,
      ...(typeof hint === 'string' ? { hint } : {}),
    },
  ];
}
