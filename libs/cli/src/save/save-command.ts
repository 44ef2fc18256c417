// `methods save`: a file as a new method, or as a new version of the one it is linked with.
import type { Command } from '../command/command.ts';
import { EXIT } from '../command/exit-code.ts';
import { LINK_FILE } from '../link/link-file.ts';
import { readMethodFile } from '../method-file/method-file.ts';
import { openServer } from '../server/open-server.ts';
import { SERVER_OPTIONS } from '../server/server-options.ts';
import { saveChecked } from './save-checked.ts';
import type { SavedFile } from './save-file.ts';

export const saveCommand: Command = {
  name: 'save',
  usage: 'FILE [--reason TEXT] [--onto VERSION] [--server URL]',
  summary: 'Save a file as a method, and later as its versions',
  details: [
    `The first save makes the method; ${LINK_FILE} beside the file remembers which, and upon which version you work.`,
    'It holds no secret: commit it. After a time-out save again: nothing is made twice.',
  ],
  options: {
    reason: { value: 'TEXT', help: 'why, for those who read the versions later' },
    onto: { value: 'VERSION', help: 'save upon this version, after its change was brought into the file' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'FILE' },
  examples: ['methods save refund-order.method', 'methods save refund-order.method --reason "Ask above 100"'],

  async run(line, context) {
    const file = await readMethodFile(line.operands[0] ?? '', context.cwd);
    const options = { reason: line.text('reason') ?? '', onto: line.text('onto') ?? null };
    const saved = await saveChecked(await openServer(line, context), file, options, context.output);
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
        `Nothing to save: ${file} is ${versionId} of wf_${methodId} already.`,
        ...(newer === null ? [] : [`There is a newer version, ${newer}:  methods source wf_${methodId} > ${file}`]),
      ];
  }
}
