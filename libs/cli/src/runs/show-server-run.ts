// Shows the outcome of a run on a server, and returns its exit code. `start`, `runs` and `answer` share it.

import type { Run } from '@methods/api/run';
import type { CommandContext } from '../command/command.ts';
import { EXIT, type ExitCode } from '../errors/exit-code.ts';
import { showForm, showQuestion } from '../question/show-question.ts';
import type { ServerApi } from '../server/server-api.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { followRun } from './follow-run.ts';
import { ServerRunView, statusWords } from './server-run-view.ts';
import { showVotes } from './show-answers.ts';

/** Shows the run until it has finished or waits for an answer. An interrupt does not end the run itself. */
export async function watchToRest(api: ServerApi, runId: string, context: CommandContext): Promise<ExitCode> {
  const { output, interrupted } = context;
  const view = new ServerRunView(output);
  let last: Run | null = null;
  try {
    const onAway = (away: boolean) => view.serverAway(away);
    for await (const run of followRun(api, runId, { signal: interrupted, onAway })) {
      last = run;
      view.show(run);
      if (run.status === 'waiting') break;
    }
  } finally {
    view.rest();
  }
  if (last === null || interrupted.aborted) {
    output.note(`The run continues. Watch it again with:  methods runs watch ${runId}`);
    return EXIT.interrupted;
  }
  return showRunEnd(last, output);
}

export function showRunEnd(run: Run, output: Output): ExitCode {
  output.document(run);
  switch (run.status) {
    case 'succeeded':
      output.result(JSON.stringify(run.result ?? null, null, 2));
      return EXIT.done;
    case 'failed': {
      const { code = 'failed', message = '', step } = run.error ?? {};
      const where = step === undefined ? 'the run failed' : `step ${plainText(step)} failed`;
      if (!output.json) output.error({ code, message: `${where}: ${plainText(message)}`, hint: undefined });
      return EXIT.failed;
    }
    case 'cancelled':
      if (!output.json) output.error({ code: 'cancelled', message: 'the run was cancelled', hint: undefined });
      return EXIT.failed;
    case 'waiting':
      if (run.question !== undefined) {
        showQuestion(run.question, output);
        showVotes(run.question, output);
        showForm(run.question, output);
      }
      output.line();
      output.result(`The run waits for an answer. Give it with:  methods answer ${run.run_id}`);
      return EXIT.waiting;
    default:
      output.result(`${run.run_id} is ${statusWords(run)}`);
      return EXIT.done;
  }
}
