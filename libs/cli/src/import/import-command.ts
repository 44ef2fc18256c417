// `methods import`: turns a recording into the draft of a method.
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { compileRecording } from '@methods/method/recording/compile-recording';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError, EXIT, type ExitCode, UsageError } from '../errors/command-error.ts';
import { IMPORT_WORDS } from '../help-words.ts';
import { FileLinks } from '../link/link-file.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { getSource } from '../server/method-calls.ts';
import { plainText } from '../terminal/plain-text.ts';
import { uploadRecording } from './upload-recording.ts';

export const importCommand: Command = {
  ...IMPORT_WORDS,

  async run(line, context) {
    if (line.flag('upload')) return onServer(line, context);
    if (line.text('server') !== undefined) throw new UsageError('import has --server only with --upload');
    const { cwd, output } = context;
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
    if (file !== undefined) await writeNew(cwd, file, source);
    output.document({ file: file ?? null, source, findings, inputs, secrets });
    if (file === undefined) output.result(source);
    else output.line(`Wrote ${file}. Try:  methods check ${file}`);
    for (const { message, place } of findings) output.note(plainText(place === '' ? message : `${message} (${place})`));
    if (secrets.length > 0) output.note(`Secrets to set where it runs: ${secrets.join(', ')}`);
    return EXIT.done;
  },
};

async function onServer(line: CommandLine, { cwd, output, ...context }: CommandContext): Promise<ExitCode> {
  const [recording = ''] = line.operands;
  const api = await openServer(line, { cwd, output, ...context });
  const { method, created } = await uploadRecording(
    api,
    resolve(cwd, recording),
    line.text('name'),
    context.interrupted,
  );
  const { id, production_id: productionId } = method;
  const file = line.text('output');
  if (file !== undefined) {
    const { source, version_id: versionId, sha256 } = await getSource(api, id, null);
    await writeNew(cwd, file, source);
    await new FileLinks(resolve(cwd, file)).change(api.baseUrl, () => ({
      state: 'saved',
      methodId: id,
      versionId,
      sha256,
    }));
  }
  output.document({ method, created, file: file ?? null });
  output.result(productionId);
  if (!created) output.note('The recording was sent before: this is the method made from it.');
  const next =
    file === undefined ? `See it:  methods source ${productionId}` : `Wrote ${file}. Try:  methods check ${file}`;
  output.note(next);
  return EXIT.done;
}

async function writeNew(cwd: string, file: string, source: string): Promise<void> {
  await writeFile(resolve(cwd, file), source, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('not_written', `cannot write ${file}: ${reasonOf(error)}`);
  });
}
