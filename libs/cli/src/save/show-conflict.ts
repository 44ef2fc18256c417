// A conflict as people need to see it: who saved what, what they changed, what this file changes, and how to continue.

import { showDifference } from '../difference/show-difference.ts';
import { unifiedDifference } from '../difference/unified.ts';
import { CommandError } from '../errors/command-error.ts';
import type { MethodFile } from '../method-file/method-file.ts';
import { getSource, type ServerSource } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { timeOf } from '../terminal/time-of.ts';
import type { SaveConflict } from './save-file.ts';

/** Shows the conflict on stderr and gives the error to end with. */
export async function conflictError(
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
