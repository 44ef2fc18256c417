// `methods answer`: shows the question a local run waits for, takes the answer, and continues the run.
import { isJsonObject, type JsonValue } from '@methods/method/json';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { CommandError, EXIT, type ExitCode, UsageError } from '../errors/command-error.ts';
import { ANSWER_WORDS } from '../help-words.ts';
import { readJsonOption } from '../local-run/local-inputs.ts';
import { LocalRuns } from '../local-run/local-runs.ts';
import type { LocalQuestion, LocalRunRecord } from '../local-run/run-record.ts';
import { fittingAnswer, NO_ANSWERS } from '../question/given-answer.ts';
import { showForm, showQuestion } from '../question/show-question.ts';
import { goOn } from '../run/go-on.ts';
import { recompile, sayThatItGoesOn, targetOf } from '../run/run-command.ts';
import { refuseMalformedRunId } from '../server/run-calls.ts';

export const answerCommand: Command = {
  ...ANSWER_WORDS,

  async run(line, context) {
    const [runId = ''] = line.operands;
    const { cwd, output } = context;
    const runs = new LocalRuns(cwd);
    const record = line.text('server') === undefined ? await runs.look(runId) : null;
    if (record === null) return elsewhere(runId, line, context);
    const question = questionOf(record);
    if (line.text('comment') !== undefined)
      throw new UsageError('a local run keeps no comment', `${runId} runs on this machine`);
    const option = line.text('answer');
    if (option === undefined && !output.interactive) {
      return show(runId, question, `${runs.dir}/${runId}`, context);
    }
    let answers = NO_ANSWERS;
    if (option !== undefined) {
      const answer: JsonValue = await readJsonOption('--answer', option, context);
      if (!isJsonObject(answer)) throw new CommandError('invalid_answer', 'an answer is an object');
      answers = new Map([[question.step, fittingAnswer(question, answer)]]);
    }
    const run = await runs.reopen(runId);
    if (run.record.question?.id !== question.id) {
      run.release();
      throw new CommandError('question_changed', `${runId} no longer waits for this answer`);
    }
    sayThatItGoesOn(run, output);
    const method = await recompile(run, output);
    return goOn(run, method, answers, context, { target: await targetOf(run, line, context) });
  },
};

/** The server's error is reported, unless there is no server. */
async function elsewhere(runId: string, line: CommandLine, context: CommandContext): Promise<ExitCode> {
  refuseMalformedRunId(runId);
  const { openServer } = await import('../chosen-server/open-server.ts');
  const api = await openServer(line, context).catch((error: unknown) => {
    if (!(error instanceof CommandError) || error.code !== 'no_server') throw error;
    throw new CommandError('not_found', `there is no local run ${runId} here, and no server is known`, {
      hint: 'local runs are in .methods/runs of the folder they were started in',
    });
  });
  const { answerOnServer } = await import('./answer-on-server.ts');
  return answerOnServer(api, runId, line, context);
}

function questionOf({ run_id, status, question }: LocalRunRecord): LocalQuestion {
  if (question !== null && status === 'waiting') return question;
  if (status === 'running') {
    const hint = `methods run --resume ${run_id}`;
    throw new CommandError('run_not_waiting', `${run_id} waits for no answer; it may have been interrupted`, { hint });
  }
  throw new CommandError('run_finished', `${run_id} has already ${status}`);
}

function show(runId: string, question: LocalQuestion, folder: string, { output }: CommandContext) {
  output.document({ run_id: runId, status: 'waiting', result: null, error: null, question, folder });
  showQuestion(question, output);
  showForm(question, output);
  output.line();
  output.line(`Answer it with:  methods answer ${runId} --answer '{…}'`);
  return EXIT.waiting;
}
