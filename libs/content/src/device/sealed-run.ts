// What a program sees of a run in device mode: opens its question and messages, and seals an answer.
import type { Place, Sealed } from './content-key.ts';
import type { KeyRing } from './key-ring.ts';

interface AskedQuestion {
  readonly id: string;
  readonly step: string;
  readonly asked_at: string | null;
  readonly deadline_at: string | null;
  readonly sealed?: Sealed;
}

/** Why the answer to the question before it did not fit. */
type Problems = readonly { readonly path: string; readonly code: string; readonly message: string }[];

interface Message {
  readonly message?: string;
  readonly sealed?: Sealed;
}

interface ShownRun {
  readonly question?: AskedQuestion;
  readonly error?: Message & { readonly step?: string };
  readonly ending?: Message & { readonly step?: string };
  readonly steps?: readonly {
    readonly name: string;
    readonly checks: readonly Message[];
    readonly error?: Message;
  }[];
}

/** @throws SealedValueError */
export function openedQuestion<Q extends AskedQuestion>(
  keys: KeyRing,
  contentId: string,
  question: Q,
): { readonly question: Q; readonly problems: Problems } {
  const { sealed, id, step, asked_at, deadline_at } = question;
  if (sealed === undefined) return { question, problems: [] };
  const content = keys.runKeyOf(sealed, contentId).openJson({ kind: 'question', step }, sealed);
  const { problems = [], ...rest } = Object(content) as { show?: unknown; problems?: Problems };
  // The worker that sealed it has given it the other fields of a question.
  return { question: { ...rest, show: rest.show ?? [], id, step, asked_at, deadline_at } as unknown as Q, problems };
}

/** What does not open stays as it is. */
export function openedRun<R extends ShownRun>(keys: KeyRing, contentId: string, run: R): R {
  const { question, error, ending, steps } = run;
  const message = <M extends Message>(of: M, step: string): M => {
    const { sealed } = of;
    if (sealed === undefined) return of;
    const place: Place = { kind: 'text', step };
    const text = openedOr(undefined, () => keys.runKeyOf(sealed, contentId).openJson(place, sealed));
    return typeof text === 'string' ? { ...of, message: text } : of;
  };
  return {
    ...run,
    ...(question?.sealed && {
      question: openedOr(question, () => openedQuestion(keys, contentId, question).question),
    }),
    ...(error && { error: message(error, error.step ?? '') }),
    ...(ending && { ending: message(ending, ending.step ?? '') }),
    ...(steps && {
      steps: steps.map((step) => ({
        ...step,
        checks: step.checks.map((check) => message(check, step.name)),
        ...(step.error && { error: message(step.error, step.name) }),
      })),
    }),
  };
}

/** By the key of `sealed`, another value of the run; without it by the own key. @throws SealedValueError */
export function sealedAnswer(
  keys: KeyRing,
  contentId: string,
  { id, step, sealed }: Pick<AskedQuestion, 'id' | 'step' | 'sealed'>,
  answer: unknown,
): Sealed {
  const key = sealed === undefined ? keys.own : keys.keyOf(sealed);
  const place: Place = { kind: 'answer', step: `${id} ${step}` };
  return key.ofRun(contentId).sealJson(place, answer, 0, key.digestOfAnswer(id, answer));
}

function openedOr<T>(otherwise: T, open: () => T): T {
  try {
    return open();
  } catch {
    return otherwise;
  }
}
