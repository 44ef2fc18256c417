// `methods import`: a recording as the draft of a method.
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { compileRecording } from '@methods/method/recording/compile-recording';
import type { Command } from '../command/command.ts';
import { CommandError } from '../command/command-error.ts';
import { EXIT } from '../command/exit-code.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { plainText } from '../terminal/plain-text.ts';

export const importCommand: Command = {
  name: 'import',
  usage: 'RECORDING [-o FILE] [--name NAME]',
  summary: 'Draft a method from a recording (HAR or Chrome Recorder)',
  details: [
    'Prints the draft, or writes it with -o. Recorded passwords and tokens are not kept: they become secrets.',
    'Nothing is sent anywhere. Review the draft; its first lines say what was left out.',
  ],
  options: {
    output: { value: 'FILE', short: 'o', help: 'write the draft to FILE, which must not be there yet' },
    name: { value: 'NAME', help: "words for the method's name, in place of the recording's" },
  },
  operands: { min: 1, max: 1, word: 'RECORDING' },
  examples: ['methods import checkout.har -o checkout.method', 'methods import recording.json --name "Weekly report"'],

  async run(line, { cwd, output }) {
    const [recording = ''] = line.operands;
    const json = await readFile(resolve(cwd, recording), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new CommandError('not_found', `cannot read ${recording}: ${reasonOf(error)}`);
    });
    const name = line.text('name');
    const { source, findings, inputs, secrets } = compileRecording(json, name === undefined ? {} : { name });
    if (source === null) {
      const [reason] = findings;
      throw new CommandError(reason?.code ?? 'no_draft', `${recording} gives no draft: ${reason?.message ?? ''}`);
    }
    const file = line.text('output');
    if (file !== undefined) {
      await writeFile(resolve(cwd, file), source, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
        throw new CommandError('not_written', `cannot write ${file}: ${reasonOf(error)}`);
      });
    }
    output.document({ file: file ?? null, source, findings, inputs, secrets });
    if (file === undefined) output.result(source);
    else output.line(`Wrote ${file}. Try:  methods check ${file}`);
    for (const { message, place } of findings) output.note(plainText(place === '' ? message : `${message} (${place})`));
    if (secrets.length > 0) output.note(`Secrets to set where it runs: ${secrets.join(', ')}`);
    return EXIT.done;
  },
};
