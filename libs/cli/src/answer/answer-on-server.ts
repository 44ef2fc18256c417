// Answers the question of a run on a server. The answer always names the question it was given to.
import { isJsonObject, type JsonObject } from '@methods/method/json';
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../command/command-error.ts';
import type { CommandLine } from '../command/command-line.ts';
import { EXIT, type ExitCode } from '../command/exit-code.ts';
import { readJsonOption } from '../local-run/local-inputs.ts';
import { getRun, isFinished, namingValues, runPath, type ServerQuestion, type ServerRun } from '../runs/server-run.ts';
import { showRunEnd } from '../runs/show-server-run.ts';
import type { ServerApi } from '../server/server-api.ts';
import { editorOf } from '../terminal/text-editor.ts';
import { askOnTerminal } from './ask-on-terminal.ts';
import { fittingAnswer } from './given-answer.ts';

/** @throws CommandError `run_finished`, `run_not_waiting`, `question_changed`, `invalid_answer`. */
export async function answerOnServer(
  api: ServerApi,
  runId: string,
  line: CommandLine,
  context: CommandContext,
): Promise<ExitCode> {
  const { output, interrupted, config } = context;
  const run = await getRun(api, runId);
  const question = questionOf(run);
  const option = line.text('answer');
  if (option === undefined && !output.interactive) return showRunEnd(run, output);
  const answer =
    option === undefined
      ? await askOnTerminal(question, output, interrupted, editorOf(config))
      : await givenAnswer(option, question, context.cwd);
  if (answer === null) {
    output.note(`Not answered. The run goes on waiting:  methods answer ${runId}`);
    return EXIT.waiting;
  }
  const body = { answer, question_id: question.id };
  const { value } = await api
    .send<ServerRun>('POST', `${runPath(runId)}/answer`, body, { idempotent: true })
    .catch((error: unknown) => {
      throw namingValues(error);
    });
  output.document(value);
  output.line(`Answered. See how it goes on with:  methods runs watch ${runId}`);
  return EXIT.done;
}

function questionOf(run: ServerRun): ServerQuestion {
  if (run.status === 'waiting' && run.question !== undefined) return run.question;
  if (isFinished(run)) throw new CommandError('run_finished', `${run.run_id} is ${run.status} already`);
  const hint = `methods runs watch ${run.run_id}`;
  throw new CommandError('run_not_waiting', `${run.run_id} waits for no answer: it is ${run.status}`, { hint });
}

/** As it was given: defaults are the server's to fill in. */
async function givenAnswer(option: string, question: ServerQuestion, cwd: string): Promise<JsonObject> {
  const answer = await readJsonOption('--answer', option, cwd);
  if (!isJsonObject(answer)) throw new CommandError('invalid_answer', 'an answer is an object');
  fittingAnswer(question, answer);
  return answer;
}
