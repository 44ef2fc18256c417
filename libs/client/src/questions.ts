// Has the questions of a run answered by a function of the application, while the run is waited for.
import type { Answers } from './answers.ts';
import type { Content } from './content.ts';
import { ConflictError, InvalidRequestError, MethodsError } from './errors.ts';
import type { Asked } from './method-types.ts';
import type { DebugLog } from './requests.ts';
import type { Question, Run } from './run.ts';

/** A handler whose answers never fit must not be asked forever. */
const MISFITS_MAX = 10;

export type AnyAsked = Asked<string, object>;
/** With the type of any method. */
export type AnyOnAsk = (asked: AnyAsked) => unknown;

/** Gets what a handler threw, and why its answer could not be given. The question stays open. */
export type OnError = (error: unknown, asked: AnyAsked) => void;

export interface AskingParts {
  readonly answers: Pick<Answers, 'give'>;
  readonly content: Pick<Content, 'questionOf'>;
  readonly onAsk: AnyOnAsk;
  readonly onError: OnError | undefined;
  readonly log: DebugLog;
  readonly signal: AbortSignal | undefined;
}

/** Of one run. */
export class Asking {
  private readonly asked = new Set<string>();

  constructor(private readonly parts: AskingParts) {}

  /** The run may end while the handler is still at work: nothing waits for it. */
  ask(run: Run): void {
    const { question } = run;
    if (question === undefined || this.asked.has(question.id)) return;
    this.asked.add(question.id);
    void this.askUntilItFits(run, question);
  }

  private async askUntilItFits(run: Run, question: Question): Promise<void> {
    const { answers, content, onAsk, log, signal } = this.parts;
    const { run_id: runId } = run;
    const answer = (value: object) => answers.give(run, question.id, value, { signal, isUnderway: true });
    let asked: AnyAsked = { runId, step: question.step, question, form: question.form, problems: [], answer };
    try {
      const opened = await content.questionOf(run, question);
      asked = { ...asked, ...opened, form: opened.question.form };
      for (let misfits = 0; misfits < MISFITS_MAX; misfits++) {
        const value = await onAsk(asked);
        if (value === undefined || value === null) return;
        const problems = await problemsOf(answer(value));
        if (problems === null) return;
        asked = { ...asked, problems };
      }
      const message = `onAsk gave ${MISFITS_MAX} answers that do not fit the form.`;
      throw new InvalidRequestError('invalid_answer', message, { details: asked.problems });
    } catch (error) {
      if (signal?.aborted) return;
      log(`question ${question.id} of ${runId} was not answered: ${codeOf(error)}`);
      // Answered by another caller, or its deadline has passed: no fault of the handler.
      if (!(error instanceof ConflictError)) this.report(error, asked);
    }
  }

  private report(error: unknown, asked: AnyAsked): void {
    try {
      if (this.parts.onError !== undefined) return this.parts.onError(error, asked);
      process.emitWarning(warningOf(error, asked));
    } catch (second) {
      process.emitWarning(warningOf(second, asked));
    }
  }
}

/** Null: the answer is accepted. */
async function problemsOf(answered: Promise<Run>): Promise<AnyAsked['problems'] | null> {
  try {
    await answered;
    return null;
  } catch (error) {
    if (error instanceof InvalidRequestError && error.code === 'invalid_answer') return error.details;
    throw error;
  }
}

function warningOf(error: unknown, { runId, step, question }: AnyAsked): string {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `onAsk failed, and question ${question.id} (${step}) of ${runId} stays open: ${cause}`;
}

function codeOf(error: unknown): string {
  return error instanceof MethodsError ? error.code : 'onAsk failed';
}
