// `methods upgrade`: shows or writes a workflow/1 file as method/2 text.
import { upgradeSource } from '@methods/method/upgrade/upgrade-source';
import type { Command } from '../command/command.ts';
import { CommandError, EXIT } from '../errors/command-error.ts';
import { UPGRADE_WORDS } from '../help-words.ts';
import { diagnosticsText, readMethodFile, replaceFile } from '../method-file/method-file.ts';
import { countOf } from '../terminal/words.ts';

export const upgradeCommand: Command = {
  ...UPGRADE_WORDS,

  async run(line, { cwd, output }) {
    const [name = ''] = line.operands;
    const file = await readMethodFile(name, cwd);
    const { changed, source, diagnostics } = upgradeSource(file.bytes);
    output.complaint(diagnosticsText(file, diagnostics, output));
    output.document({ file: name, changed, diagnostics, source });
    if (source === null) {
      const errors = diagnostics.filter((found) => found.severity === 'error').length;
      throw new CommandError('not_upgraded', `${name} was not upgraded: it has ${countOf(errors, 'error')}`);
    }
    if (!line.flag('write')) output.result(source);
    else if (changed) await replaceFile(file.path, source);
    if (!changed) output.note(`${name} needs no upgrade`);
    else if (line.flag('write')) output.line(`${name} is method/2 now`);
    return diagnostics.length > 0 ? EXIT.warnings : EXIT.done;
  },
};
