// `methods answer`: shows the question a local run waits for, takes the answer, and goes on with the run.
import { isJsonObject, type JsonValue } from '@methods/method/json';
import type { Command, CommandContext } from '../command/command.ts';
import { CommandError } from '../command/command-error.ts';
import { EXIT } from '../command/exit-code.ts';
import { readJsonOption } from '../local-run/local-inputs.ts';
import { LocalRuns } from '../local-run/local-runs.ts';
import type { LocalQuestion, LocalRunRecord } from '../local-run/run-record.ts';
import { goOn } from '../run/go-on.ts';
import { recompile, sayThatItGoesOn } from '../run/run-command.ts';
import { fittingAnswer, NO_ANSWERS } from './given-answer.ts';
import { showForm, showQuestion } from './show-question.ts';

export const answerCommand: Command = {
  name: 'answer',
  usage: 'RUN_ID [--answer JSON|@FILE]',
  summary: 'Answer the question of a run that waits, and go on with it',
  details: [
    'Looks for the run in .methods/runs. Without --answer the question is asked on the terminal, field by field;',
    'without a terminal it is shown, and the run goes on waiting.',
  ],
  options: { answer: { value: 'JSON|@FILE', help: 'the answer, an object that fits the form of the question' } },
  operands: { min: 1, max: 1, word: 'RUN_ID' },
  examples: [
    'methods answer run_01kf3p7c5m8x2q9t4v6w0y1z2a',
    'methods answer run_01kf3p7c5m8x2q9t4v6w0y1z2a --answer \'{"decision": "approve"}\'',
  ],

  async run(line, context) {
    const [runId = ''] = line.operands;
    const { cwd, output } = context;
    const runs = new LocalRuns(cwd);
    const question = questionOf(await runs.find(runId));
    const option = line.text('answer');
    if (option === undefined && !output.interactive) {
      return show(runId, question, `${runs.dir}/${runId}`, context);
    }
    let answers = NO_ANSWERS;
    if (option !== undefined) {
      const answer: JsonValue = await readJsonOption('--answer', option, cwd);
      if (!isJsonObject(answer)) throw new CommandError('invalid_answer', 'an answer is an object');
      answers = new Map([[question.step, fittingAnswer(question, answer)]]);
    }
    const run = await runs.reopen(runId);
    if (run.record.question?.id !== question.id) {
      await run.release();
      throw new CommandError('question_changed', `${runId} no longer waits for this answer`);
    }
    sayThatItGoesOn(run, output);
    return goOn(run, await recompile(run, output), answers, context);
  },
};

function questionOf({ run_id, status, question }: LocalRunRecord): LocalQuestion {
  if (question !== null && status === 'waiting') return question;
  if (status === 'running') {
    const hint = `methods run --resume ${run_id}`;
    throw new CommandError('run_not_waiting', `${run_id} waits for no answer; it may have been interrupted`, { hint });
  }
  throw new CommandError('run_finished', `${run_id} has ${status} already`);
}

function show(runId: string, question: LocalQuestion, folder: string, { output }: CommandContext) {
  output.document({ run_id: runId, status: 'waiting', result: null, error: null, question, folder });
  showQuestion(question, output);
  showForm(question, output);
  output.line();
  output.line(`Answer it with:  methods answer ${runId} --answer '{…}'`);
  return EXIT.waiting;
}
