// `methods run --resume RUN_ID --upload` for a run that has ended: sends its record if no server has it yet.
import type { CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT, type ExitCode } from '../errors/exit-code.ts';
import type { OpenRun } from '../local-run/local-runs.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { forgetUnsent, readUnsent, sendCommand, sendRecord } from '../upload/unsent-record.ts';

/** Takes the run over: it is released in any case. @throws CommandError `run_finished`: there is nothing to send. */
export async function sendUnsent(run: OpenRun, line: CommandLine, context: CommandContext): Promise<ExitCode> {
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
    // The folder may be from another person: a file in it does not choose who gets the caller's key.
    if (baseUrl !== unsent.server) {
      throw new CommandError('other_server', `the record of ${run_id} is for ${unsent.server}, not for ${baseUrl}`, {
        hint: sendCommand(unsent),
      });
    }
    const { openServer } = await import('../chosen-server/open-server.ts');
    const api = await openServer(line, context);
    await sendRecord(api, unsent).catch((error: unknown) => {
      // It stays unless the server has a later record of the run, which has more.
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
