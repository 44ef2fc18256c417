// Runs a local run to its rest, shows it meanwhile, and reports its outcome. Shared by `run` and `answer`.
import { join, relative } from 'node:path';
import type { LocalVersionId, VersionId } from '@methods/base/ids';
import { askStepAt, refusalText, refusedBy } from '@methods/method/answer-checks';
import type { JsonObject, JsonValue } from '@methods/method/json';
import type { CommandContext } from '../command/command.ts';
import { CommandError, EXIT, type ExitCode } from '../errors/command-error.ts';
import { startExecutorParts } from '../local-run/executor-parts.ts';
import { type PreparedMethod, prepareMethod } from '../local-run/local-dependencies.ts';
import { refuseMissingSecrets } from '../local-run/local-inputs.ts';
import { localInspection } from '../local-run/local-inspection.ts';
import type { OpenRun } from '../local-run/local-runs.ts';
import { attemptOf, LocalWalk, type WalkedRun } from '../local-run/local-walk.ts';
import { RunHistory } from '../local-run/run-journal.ts';
import type { LocalQuestion } from '../local-run/run-record.ts';
import type { LocalMethod } from '../method-file/local-method.ts';
import { askOnTerminal } from '../question/ask-on-terminal.ts';
import { fittingAnswer, type HumanAnswers, halfCharacterIn } from '../question/given-answer.ts';
import { showForm, showQuestion } from '../question/show-question.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { editorOf } from '../terminal/text-editor.ts';
import { RunUpload, type UploadedRun, uploadingView } from '../upload/run-upload.ts';
import type { UploadTarget } from '../upload/saved-version.ts';
import { forgetUnsent } from '../upload/unsent-record.ts';
import { StepView } from './step-view.ts';

/**
 * Takes over the run, and releases it in any case. `ready`: prepared before the run existed; `target`: where its record
 * is sent. @throws CommandError
 */
export async function goOn(
  run: OpenRun,
  method: LocalMethod,
  answers: HumanAnswers,
  context: CommandContext,
  {
    ready = null,
    target = null,
  }: { readonly ready?: PreparedMethod | null; readonly target?: UploadTarget | null } = {},
): Promise<ExitCode> {
  const { output, config, cwd, interrupted } = context;
  try {
    refuseMissingSecrets(method, config.variables);
    const prepared = ready ?? (await prepareMethod(method, context));
    // From an earlier attempt, so it would be out of date.
    await forgetUnsent(run.dir);
    const steps = new StepView(output);
    const { lockSha256 } = prepared;
    const upload = target === null ? null : uploadOf(run, target, (line) => steps.remark(line));
    const versionId = target?.versionId ?? run.record.version_id;
    const view = upload === null ? steps : uploadingView(steps, upload, uploadedRun(run, versionId, lockSha256));
    const executor = startExecutorParts(join(cwd, '.methods', 'work'), config);
    try {
      const answer = (question: LocalQuestion) => answerHere(question, method, answers, context);
      const rest = await LocalWalk.toItsRest({
        ...{ run, method, executor, prepared, view, answer, interrupted },
        secrets: config.variables,
      });
      view.rest();
      const inspection = localInspection(rest, versionId, lockSha256);
      // An interrupted process has no time; the next attempt sends all of it.
      if (rest.status !== 'interrupted') await upload?.finish(inspection);
      return showRest(rest, run, inspection, context);
    } finally {
      view.rest();
      await executor.stop();
    }
  } finally {
    run.release();
  }
}

async function answerHere(
  question: LocalQuestion,
  method: LocalMethod,
  answers: HumanAnswers,
  { output, interrupted, config }: CommandContext,
): Promise<JsonObject | null> {
  const refusals = (answer: JsonValue) => localRefusals(method, question, answer);
  const given = answers.get(question.step);
  if (given !== undefined) {
    const answer = fittingAnswer(question, given);
    // Asked again although it was answered: only the walk could judge it.
    const refused = question.refused?.map(refusalText) ?? refusals(answer);
    if (refused.length === 0) return answer;
    const message = `the answer to ${question.step} is refused: ${refused.join('; ')}`;
    throw new CommandError('invalid_answer', plainText(message));
  }
  return output.interactive ? askOnTerminal(question, output, interrupted, editorOf(config), refusals) : null;
}

function uploadOf(run: OpenRun, target: UploadTarget, say: (line: string) => void) {
  return new RunUpload({ ...target, runId: run.record.run_id, dir: run.dir, attempt: attemptOf(run), say });
}

function uploadedRun(run: OpenRun, versionId: VersionId | LocalVersionId, lockSha256: string | null): UploadedRun {
  const { records } = new RunHistory(run.events);
  return { record: run.record, versionId, attempt: attemptOf(run), lockSha256, records };
}

function showRest(rest: WalkedRun, run: OpenRun, inspection: JsonObject, { output, cwd }: CommandContext): ExitCode {
  const { run_id, status } = rest.record;
  output.document({
    run_id,
    status,
    result: rest.status === 'succeeded' ? rest.result : null,
    error: rest.status === 'failed' ? rest.error : null,
    question: rest.status === 'waiting' ? rest.question : null,
    folder: run.dir,
    inspection,
  });
  const folder = `Run folder: ${relative(cwd, run.dir)}`;
  switch (rest.status) {
    case 'succeeded':
      output.line();
      output.result(JSON.stringify(rest.result, null, 2));
      output.line(output.paint('dim', folder));
      return EXIT.done;
    case 'failed': {
      const { step, message, code } = rest.error;
      const where = step === undefined ? 'the run failed' : `step ${step} failed`;
      if (!output.json) output.error({ code, message: `${where}: ${plainText(message)}`, hint: undefined });
      output.line(output.paint('dim', folder));
      return EXIT.failed;
    }
    case 'waiting': {
      if (!output.interactive) {
        showQuestion(rest.question, output);
        showForm(rest.question, output);
      }
      output.line();
      output.result(`The run waits for an answer. Continue with:  methods answer ${run_id}`);
      output.line(output.paint('dim', folder));
      return EXIT.waiting;
    }
    case 'interrupted':
      sayHowToGoOn(output, run_id);
      return EXIT.interrupted;
  }
}

function sayHowToGoOn(output: Output, runId: string): void {
  output.note(`Interrupted. Finished steps are kept; continue with:  methods run --resume ${runId}`);
}

/** One sentence for each check that the answer does not meet. */
function localRefusals({ method, called }: LocalMethod, question: LocalQuestion, answer: JsonValue): string[] {
  const step = askStepAt(method, question.step, (target) => {
    return target.kind === 'file' ? (called.get(target.path)?.method ?? null) : null;
  });
  const half = halfCharacterIn(answer);
  if (half !== null) return [half];
  return step === null ? [] : refusedBy(step, question.ensure_scope ?? null, answer).map(refusalText);
}
