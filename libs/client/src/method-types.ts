// The types of calls, by the method they name.
import type { Question, Run } from './run.ts';

/** `methods types METHOD` writes a file that adds the method's types here, by its id. */
// biome-ignore lint/suspicious/noEmptyInterface: the files of an application add its fields.
export interface MethodTypes {}

/** Any text is the id of a method; those with types are suggested. */
export type MethodName = keyof MethodTypes | (string & {});

type PartsOf<Part extends string> = {
  [M in keyof MethodTypes]: MethodTypes[M] extends Readonly<Record<Part, infer Value>> ? Value : never;
};
type Inputs = PartsOf<'inputs'>;
type Results = PartsOf<'result'>;
type Answers = PartsOf<'answers'>;
/** Looked up by the method, so that texts in a handler's answer keep their literal types. */
type AnyAnswers = { [M in keyof Answers]: Answers[M][keyof Answers[M]] };

/** JSON, as an object; a `SentFile` is the value of a `file`. */
export type InputsOf<M> = M extends keyof Inputs ? Inputs[M] : object;
export type ResultOf<M> = M extends keyof Results ? Results[M] : Readonly<Record<string, unknown>>;
type AnswersOf<M> = M extends keyof Answers ? Answers[M] : Readonly<Record<string, object>>;
/** An answer to one of its questions. */
export type AnswerOf<M> = M extends keyof AnyAnswers ? AnyAnswers[M] : object;

type RunFacts = Omit<Run, 'status' | 'result' | 'error'>;

/** A run that is over. */
export type EndedRun<M = string> =
  | (RunFacts & {
      readonly status: 'succeeded';
      /** In device mode absent (`result_at` is `worker`), unless a worker in this process ran it. */
      readonly result: ResultOf<M>;
      readonly error?: undefined;
    })
  | (RunFacts & { readonly status: 'failed'; readonly error: NonNullable<Run['error']>; readonly result?: undefined })
  | (RunFacts & { readonly status: 'cancelled'; readonly error?: undefined; readonly result?: undefined });

/** What `onAsk` gets: one question of a run. */
export interface Asked<Step, Answer> {
  readonly runId: string;
  readonly step: Step;
  /** With its prompt, the values it shows and its deadline. */
  readonly question: Question;
  /** JSON Schema of the answer. */
  readonly form: Readonly<Record<string, unknown>>;
  /** Why the previous answer to this question did not fit; empty at first. */
  readonly problems: readonly { readonly path: string; readonly code: string; readonly message: string }[];
  /** Answers, now or later; when `onAsk` has returned nothing. @throws MethodsError */
  answer(value: Answer): Promise<Run>;
}

/** By the step that asks. */
export type AskedOf<M> = { [Step in keyof AnswersOf<M>]: Asked<Step, AnswersOf<M>[Step]> }[keyof AnswersOf<M>];

/** Returns the answer; or nothing, and the question stays open. */
export type OnAsk<M = string> = (asked: AskedOf<M>) => AnswerOf<M> | undefined | Promise<AnswerOf<M> | undefined>;
