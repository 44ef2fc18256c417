// Answers the question of a run on a server. An answer names the question it was given to.

import type { Question } from '@methods/api/question';
import type { Run } from '@methods/api/run';
import { isJsonObject, type JsonObject } from '@methods/method/json';
import type { CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { DeviceContent } from '../device/device-content.ts';
import { CommandError, EXIT, type ExitCode } from '../errors/command-error.ts';
import { readJsonOption } from '../local-run/local-inputs.ts';
import { askOnTerminal } from '../question/ask-on-terminal.ts';
import { fittingAnswer } from '../question/given-answer.ts';
import { type ForReader, refuseForOthers } from '../question/show-question.ts';
import { showVotes } from '../runs/show-answers.ts';
import { showRunEnd, watchToRest } from '../runs/show-server-run.ts';
import { answerPath, answersAsPerson, getRun, isFinished, namingValues } from '../server/run-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import type { Output } from '../terminal/output.ts';
import { editorOf } from '../terminal/text-editor.ts';
import { commentOf } from './answer-comment.ts';

/** @throws CommandError `run_finished`, `run_not_waiting`, `question_changed`, `invalid_answer`. */
export async function answerOnServer(
  api: ServerApi,
  runId: string,
  line: CommandLine,
  context: CommandContext,
): Promise<ExitCode> {
  const { output } = context;
  const comment = commentOf(line);
  const run = await getRun(api, runId);
  const option = line.text('answer');
  if (option !== undefined && isFinished(run)) {
    const same = await repeat(api, run, await readAnswer(option, context), context);
    if (line.flag('wait')) return showRunEnd({ run: same }, output);
    output.document(same);
    output.line(`Already answered: ${runId} is ${same.status}.`);
    return EXIT.done;
  }
  const asked = questionOf(run);
  const content = await DeviceContent.of(api, run, context);
  const question = content?.question(asked) ?? asked;
  if (option === undefined && !output.interactive) return showRunEnd({ run: { ...run, question } }, output);
  if (option === undefined && answersAsPerson(api)) {
    refuseForOthers(await api.get<ForReader>(`/api/questions/${encodeURIComponent(question.id)}`));
  }
  const formShown = `methods answer ${runId}`;
  const answer = await answerTo(question, line, context, formShown);
  if (answer === null) {
    output.note(`Not answered. The run still waits:  methods answer ${runId}`);
    return EXIT.waiting;
  }
  const sent = content?.answer(question, answer) ?? answer;
  const body = { answer: sent, question_id: question.id, ...comment };
  const { value } = await api
    .send<Run>('POST', answerPath(api, runId), body, { idempotent: true })
    .catch((error: unknown) => {
      throw withFormHint(namingValues(error), formShown);
    });
  if (line.flag('wait')) return watchToRest(api, runId, context);
  output.document(value);
  return sayAnswered(value, question.id, output);
}

/**
 * Returns the answer of --answer, or of the terminal; null: there is none. `formShown`: the command that shows the
 * form.
 * @throws CommandError `invalid_answer`
 */
export async function answerTo(
  question: Question,
  line: CommandLine,
  context: CommandContext,
  formShown: string,
): Promise<JsonObject | null> {
  const { output, interrupted, config } = context;
  const option = line.text('answer');
  if (option === undefined) return askOnTerminal(question, output, interrupted, editorOf(config));
  return givenAnswer(option, question, context).catch((error: unknown) => {
    throw withFormHint(error, formShown);
  });
}

/** Returns the refusal of an answer that does not fit, naming the command that shows the form. */
export function withFormHint(error: unknown, formShown: string): unknown {
  if (!(error instanceof CommandError) || error.code !== 'invalid_answer' || error.hint !== undefined) return error;
  return new CommandError(error.code, error.message, { hint: `see its form with  ${formShown}` });
}

/** `run`: after the answer. A question that several people decide may still be open. */
export function sayAnswered({ run_id: runId, question }: Run, questionId: string, output: Output): ExitCode {
  if (question?.id === questionId && question.needs !== undefined) {
    const { count } = question.needs;
    output.line(`Your answer is kept: ${count} people have to agree, and the question stays open.`);
    showVotes(question, output);
  } else output.line(`Answered. Watch it with:  methods runs watch ${runId}`);
  return EXIT.done;
}

function questionOf(run: Run): Question {
  if (run.status === 'waiting' && run.question !== undefined) return run.question;
  if (isFinished(run)) throw finished(run);
  const hint = `methods runs watch ${run.run_id}`;
  throw new CommandError('run_not_waiting', `${run.run_id} waits for no answer: it is ${run.status}`, { hint });
}

/**
 * Repeating an answer is not a fault: the server knows the last one. Only for a finished run: in a running one, an
 * answer without a question id could answer the next question.
 */
async function repeat(api: ServerApi, run: Run, answer: JsonObject, context: CommandContext): Promise<Run> {
  const last = run.answers?.at(-1);
  const content = last === undefined ? null : await DeviceContent.of(api, run, context);
  const sealed = last && content?.answer({ id: last.question_id, step: last.step }, answer);
  const { value } = await api
    .send<Run>('POST', answerPath(api, run.run_id), { answer: sealed ?? answer }, { idempotent: true })
    .catch((error: unknown) => {
      throw error instanceof ServerRefusal && error.code === 'run_not_waiting' ? finished(run) : error;
    });
  return value;
}

function finished({ run_id, status }: Run): CommandError {
  return new CommandError('run_finished', `${run_id} is already ${status}`);
}

/** As given: the server fills in defaults. */
async function givenAnswer(option: string, question: Question, context: CommandContext): Promise<JsonObject> {
  const answer = await readAnswer(option, context);
  fittingAnswer(question, answer);
  return answer;
}

async function readAnswer(option: string, context: CommandContext): Promise<JsonObject> {
  const answer = await readJsonOption('--answer', option, context);
  if (!isJsonObject(answer)) throw new CommandError('invalid_answer', 'an answer is an object');
  return answer;
}
