// Saves a file as commands do: checks it here first, and shows conflicts and findings.
import type { Diagnostic } from '@methods/method/diagnostic';
import type { CommandContext } from '../command/command.ts';
import type { Config } from '../config.ts';
import { CommandError } from '../errors/command-error.ts';
import { checkFile } from '../method-file/local-method.ts';
import { diagnosticsText, type MethodFile } from '../method-file/method-file.ts';
import { getSource, type ServerSource } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { isUncertain, ServerRefusal } from '../server/server-refusal.ts';
import { showDifference, unifiedDifference } from '../terminal/difference.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { countOf, timeOf } from '../terminal/words.ts';
import { SaveConflict, type SavedFile, type SaveOptions, saveFile } from './save-file.ts';

/** @throws CommandError */
export async function saveChecked(
  api: ServerApi,
  file: MethodFile,
  options: SaveOptions,
  { output, config }: Pick<CommandContext, 'output' | 'config'>,
): Promise<SavedFile> {
  const warnings = await checkSource(file, output, config);
  try {
    const saved = await saveFile(api, file, options);
    showFindings(file, saved.reply.warnings, warnings, output);
    return saved;
  } catch (error) {
    if (error instanceof SaveConflict) throw await conflictError(api, file, error, output);
    showRefusedSource(file, error, output);
    throw isUncertain(error) ? uncertain(error, file) : error;
  }
}

function uncertain({ code, message, hint, cause }: CommandError, { file }: MethodFile): CommandError {
  const again = `methods save ${file}  again: nothing is saved twice`;
  return new CommandError(code, message, { hint: hint === undefined ? again : `${hint}; then  ${again}`, cause });
}

// The findings in a file before it is sent, and those that only the server can see.

/** Shows the findings, with carets, and returns the warnings. @throws CommandError `invalid_method`. */
async function checkSource(
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

/** The server knows the called methods, so its findings have places too. */
function showFindings(file: MethodFile, findings: unknown, known: readonly Diagnostic[], output: Output): void {
  const told = new Set(known.map(({ code, line, column }) => `${code} ${line} ${column}`));
  const fresh = (Array.isArray(findings) ? findings : []).flatMap((finding) => diagnosticOf(finding));
  const unknown = fresh.filter(({ code, line, column }) => !told.has(`${code} ${line} ${column}`));
  output.complaint(diagnosticsText(file, unknown, output));
}

/** A refused source is shown like one that was checked here. */
function showRefusedSource(file: MethodFile, error: unknown, output: Output): void {
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

// Explains a conflict to people: who saved what, what they changed, what this file changes, and how to continue.

/** Shows the conflict on stderr and gives the error to end with. */
async function conflictError(
  api: ServerApi,
  file: MethodFile,
  { methodId, baseVersion, currentVersion }: SaveConflict,
  output: Output,
): Promise<CommandError> {
  const [base, theirs] = await Promise.all([
    getSource(api, methodId, baseVersion),
    getSource(api, methodId, currentVersion),
  ]);
  const mine = file.bytes.toString('utf8');
  const parts = [
    `${whoSaved(theirs)}\n\n`,
    'What they changed:\n',
    block(base.source, theirs.source, [baseVersion, currentVersion], output),
    `\nWhat ${file.file} changes:\n`,
    block(base.source, mine, [baseVersion, file.file], output),
    '\nTo continue:\n',
    `  keep theirs:   methods source wf_${methodId} > ${file.file}\n`,
    `  keep both:     merge their change into ${file.file}, then  methods save ${file.file} --onto ${currentVersion}\n`,
    '\n',
  ];
  output.complaint(parts.join(''));
  const who = theirs.created_by?.name ? ` by ${plainText(theirs.created_by.name)}` : '';
  return new CommandError(
    'version_conflict',
    `${file.file} was made from ${baseVersion}, and ${currentVersion} was saved meanwhile${who}`,
    { hint: `merge both, then  methods save ${file.file} --onto ${currentVersion}` },
  );
}

function whoSaved({ version_id: versionId, created_by: by, created_at: at, reason }: ServerSource): string {
  const who = by?.name ? plainText(by.name) : 'Somebody';
  const why = reason === '' ? 'without a reason' : `"${plainText(reason)}"`;
  return `${who} saved ${versionId} ${timeOf(at)}: ${why}.`;
}

function block(before: string, after: string, names: readonly [string, string], output: Output): string {
  const difference = unifiedDifference(before, after, names);
  return difference === '' ? '  nothing\n' : showDifference(difference, output);
}
