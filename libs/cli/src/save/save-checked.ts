// A save as commands make it: checked here first, with conflicts and findings shown.
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import type { MethodFile } from '../method-file/method-file.ts';
import type { ServerApi } from '../server/server-api.ts';
import { checkSource, showFindings, showRefusedSource } from './check-source.ts';
import { SaveConflict, type SavedFile, type SaveOptions, saveFile } from './save-file.ts';
import { conflictError } from './show-conflict.ts';

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
    throw error instanceof CommandError && error.code === 'unreachable' ? uncertain(error, file) : error;
  }
}

function uncertain({ code, message, hint, cause }: CommandError, { file }: MethodFile): CommandError {
  const again = `methods save ${file}  again: nothing is saved twice`;
  return new CommandError(code, message, { hint: hint === undefined ? again : `${hint}; then  ${again}`, cause });
}
