// `methods save`: saves a file as a new method, or as a new version of its linked one.

import { openServer } from '../chosen-server/open-server.ts';
import type { Command } from '../command/command.ts';
import { EXIT } from '../errors/command-error.ts';
import { SAVE_WORDS } from '../help-words.ts';
import { readMethodFile } from '../method-file/method-file.ts';
import { saveChecked } from './save-checked.ts';
import type { SavedFile } from './save-file.ts';

export const saveCommand: Command = {
  ...SAVE_WORDS,

  async run(line, context) {
    const file = await readMethodFile(line.operands[0] ?? '', context.cwd);
    const options = { reason: line.text('reason') ?? '', onto: line.text('onto') ?? null };
    const saved = await saveChecked(await openServer(line, context), file, options, context);
    context.output.document(saved.reply);
    for (const text of saidOf(saved, file.file)) context.output.line(text);
    return EXIT.done;
  },
};

function saidOf({ outcome, reply, newer }: SavedFile, file: string): string[] {
  const { method_id: methodId, version_id: versionId } = reply;
  switch (outcome) {
    case 'new-method':
      return [
        `Saved ${file} as the new method wf_${methodId}, version ${versionId}.`,
        `Next:  methods publish ${file}`,
      ];
    case 'new-version':
      return [`Saved ${file} as ${versionId} of wf_${methodId}.`, `Next:  methods publish ${file}`];
    case 'unchanged':
      return [
        `Nothing to save: ${file} is already ${versionId} of wf_${methodId}.`,
        ...(newer === null ? [] : [`There is a newer version, ${newer}:  methods source wf_${methodId} > ${file}`]),
      ];
  }
}
