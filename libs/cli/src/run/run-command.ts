// `methods run`: runs a method on this machine, or resumes a run that stopped.
import { createHash } from 'node:crypto';
import { RUN_FOLDER_LIMITS } from '@methods/content/archive-limits';
import { ANSWER_POLICIES } from '@methods/method/answer-policy';
import { INPUT_FILE_LIMITS } from '@methods/method/file-limits';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError, EXIT, type ExitCode, UsageError } from '../errors/command-error.ts';
import { RUN_WORDS } from '../help-words.ts';
import { givenInputs } from '../local-run/given-inputs.ts';
import { placeholder, refuseServerFiles, withGivenFiles } from '../local-run/input-files.ts';
import { prepareMethod } from '../local-run/local-dependencies.ts';
import { fittingInputs, refuseMissingSecrets } from '../local-run/local-inputs.ts';
import { LocalRuns, type OpenRun } from '../local-run/local-runs.ts';
import { compileToRun, type LocalMethod, refuseWhatCannotRunHere } from '../method-file/local-method.ts';
import { readMethodFile } from '../method-file/method-file.ts';
import { type HumanAnswers, NO_ANSWERS, readHumanFile, refuseUnknownQuestions } from '../question/given-answer.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import type { Output } from '../terminal/output.ts';
import { type UploadTarget, uploadTarget } from '../upload/saved-version.ts';
import { forgetUnsent, readUnsent, sendCommand, sendRecord } from '../upload/unsent-record.ts';
import { goOn } from './go-on.ts';

/** They become files of the run's folder. */
const LOCAL_FILES = { ...INPUT_FILE_LIMITS, bytesMax: RUN_FOLDER_LIMITS.bytesMax };

export const runCommand: Command = {
  ...RUN_WORDS,

  async run(line, context) {
    const resumed = line.text('resume');
    const [file] = line.operands;
    if ((file === undefined) === (resumed === undefined)) {
      throw new UsageError('run needs a FILE, or --resume RUN_ID', 'usage: methods run FILE');
    }
    const human = line.text('human');
    const answers = human === undefined ? NO_ANSWERS : await readHumanFile(human, context.cwd);
    const known = ({ method }: LocalMethod) => refuseUnknownQuestions(answers, method, human ?? '');
    if (file === undefined) return resume(resumed ?? '', answers, line, context);
    const { run, method, prepared, target } = await begin(file, line, context, known);
    return goOn(run, method, answers, context, { ready: prepared, target });
  },
};

/** Every refusal comes before the run exists. */
async function begin(
  name: string,
  line: CommandLine,
  context: CommandContext,
  refuseAnswers: (method: LocalMethod) => void,
) {
  const { cwd, output, config } = context;
  const file = await readMethodFile(name, cwd);
  const method = compileToRun(file, cwd, output);
  refuseWhatCannotRunHere(method);
  const given = await givenInputs(line.texts('inputs'), context, LOCAL_FILES, (_file, number) => placeholder(number));
  const inputs = fittingInputs(method.method, given.values);
  refuseServerFiles(method.method, inputs, given.files.length);
  refuseAnswers(method);
  refuseMissingSecrets(method, config.variables);
  const target = await uploadTarget(file.path, createHash('sha256').update(file.bytes).digest('hex'), line, context);
  const prepared = await prepareMethod(method, context);
  const run = await new LocalRuns(cwd).create(file, method, inputs, (folder) =>
    withGivenFiles(folder, method.method, inputs, given.files),
  );
  output.line(`${method.method.name} ${output.paint('dim', run.record.run_id)}`);
  notePolicies(method, output);
  return { run, method, prepared, target };
}

/** Here the person at the terminal answers. */
function notePolicies({ method }: LocalMethod, output: Output): void {
  if (!method.features.includes(ANSWER_POLICIES)) return;
  output.note('Who may answer, reminders and time-out answers apply on a server only: here any answer counts.');
}

async function resume(runId: string, answers: HumanAnswers, line: CommandLine, context: CommandContext) {
  const { cwd, output } = context;
  if (line.texts('inputs').length > 0) throw new UsageError('a resumed run keeps its inputs');
  const run = await new LocalRuns(cwd).reopen(runId);
  const { status } = run.record;
  if (status === 'succeeded' || status === 'failed') return sendUnsent(run, line, context);
  sayThatItGoesOn(run, output);
  const method = await recompile(run, output);
  return goOn(run, method, answers, context, { target: await targetOf(run, line, context) });
}

/** Returns where the record of a resumed run is sent; the run is released if that is unknown. */
export async function targetOf(run: OpenRun, line: CommandLine, context: CommandContext): Promise<UploadTarget | null> {
  try {
    return await uploadTarget(run.record.file, run.record.sha256, line, context);
  } catch (error) {
    run.release();
    throw error;
  }
}

export function sayThatItGoesOn({ record }: OpenRun, output: Output): void {
  output.line(`${record.method} ${output.paint('dim', `${record.run_id}, continues`)}`);
}

/** The run's own copies were compiled before, but a newer `methods` may have become stricter. */
export async function recompile(run: OpenRun, output: Output): Promise<LocalMethod> {
  const { file, run_id } = run.record;
  const copy = { file: `${run_id}/method`, path: file, bytes: run.method };
  try {
    return compileToRun(copy, '/', output, (path) => run.called.get(path) ?? null);
  } catch (error) {
    run.release();
    throw error;
  }
}

// `methods run --resume RUN_ID --upload` for a run that has ended: sends its record if no server has it yet.

/** Takes over the run, and releases it in any case. @throws CommandError `run_finished`: there is nothing to send. */
async function sendUnsent(run: OpenRun, line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { run_id, status } = run.record;
  const { output, config } = context;
  try {
    const unsent = await readUnsent(run.dir, run_id);
    if (unsent === null || !line.flag('upload')) {
      const hint = unsent === null ? `see ${run.dir}` : `send its record with  ${sendCommand(unsent)}`;
      throw new CommandError('run_finished', `${run_id} has already ${status}`, { hint });
    }
    const { chooseServer } = await import('../chosen-server/choose-server.ts');
    const { baseUrl } = await chooseServer(line, config);
    // The folder may come from another person: a file in it must not choose who gets the caller's key.
    if (baseUrl !== unsent.server) {
      throw new CommandError('other_server', `the record of ${run_id} is for ${unsent.server}, not for ${baseUrl}`, {
        hint: sendCommand(unsent),
      });
    }
    const { openServer } = await import('../chosen-server/open-server.ts');
    const api = await openServer(line, context);
    await sendRecord(api, unsent).catch((error: unknown) => {
      // Kept, unless the server has a later record of the run, which contains more.
      if (!(error instanceof ServerRefusal) || error.code !== 'stale_sequence') throw error;
    });
    await forgetUnsent(run.dir);
    output.document({ run_id, status, folder: run.dir });
    output.line(`The record of ${run_id} has been sent.`);
    return EXIT.done;
  } finally {
    run.release();
  }
}
