// The one outcome that a race may have, and what of that which was seen of it says otherwise.
import type { Run } from '../run-client.ts';
import type { Contender, RacedQuestion } from './contenders.ts';

export interface SeenRace extends RacedQuestion {
  readonly deadline: boolean;
  readonly cancel: boolean;
  /** Those whose answer the service said to count. */
  readonly accepted: readonly Contender[];
  /** At its end. */
  readonly run: Run;
  /** What each link shows afterwards. */
  readonly pages: readonly string[];
  /** Of the question's row. */
  readonly state: string;
}

export interface JudgedRace {
  /** The name of the contender whose answer counts, `expired` or `cancelled`. */
  readonly outcome: string;
  readonly faults: readonly string[];
}

export function judgeRace(seen: SeenRace): JudgedRace {
  const { accepted, runId } = seen;
  const [winner] = accepted;
  const faults: string[] = [];
  const expect = (fact: boolean, sentence: string) => {
    if (!fact) faults.push(`${runId}: ${sentence}`);
  };
  expect(accepted.length <= 1, `${accepted.map(({ name }) => name).join(' and ')} were both accepted`);
  const outcome = winner === undefined ? expectNoAnswer(seen, expect) : expectAnswer(seen, winner, expect);
  return { outcome, faults };
}

type Expect = (fact: boolean, sentence: string) => void;

function expectAnswer({ run, pages, state, cancel, questionId }: SeenRace, winner: Contender, expect: Expect): string {
  const { name, channel } = winner;
  const { status, result, answers = [] } = run;
  const isDone = status === 'succeeded' && result?.who === name;
  expect(isDone || (cancel && status === 'cancelled'), `${name} was accepted, and it is ${status} by ${result?.who}`);
  const receipts = answers.map((each) => JSON.stringify([each.question_id, each.channel, each.answer]));
  const expected = JSON.stringify([questionId, channel, { who: name }]);
  expect(receipts.join() === expected, `${name} was accepted, and its receipts are ${receipts.join()}`);
  expect(state === 'answered', `${name} was accepted, and its question is ${state}`);
  const shown = new RegExp(`Answered: <bdi>${name}<`, 'i');
  for (const page of pages) expect(shown.test(page), `${name} was accepted, and a link does not show it`);
  return name;
}

function expectNoAnswer({ run, pages, state, cancel, deadline }: SeenRace, expect: Expect): string {
  const outcome = run.status === 'cancelled' ? 'cancelled' : 'expired';
  const { status, error, answers = [] } = run;
  expect(answers.length === 0, 'no answer was accepted, and it has a receipt');
  expect(state === outcome, `it is ${status}, and its question ${state}`);
  if (outcome === 'cancelled') expect(cancel, 'no one cancelled it');
  else expect(deadline && status === 'failed' && error?.code === 'no_answer', `no answer counts, and it is ${status}`);
  const words = outcome === 'cancelled' ? 'The run was cancelled' : 'without an answer';
  for (const page of pages) expect(page.includes(words), `it is ${outcome}, and a link does not say so`);
  return outcome;
}
