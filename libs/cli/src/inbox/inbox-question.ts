// A question on a server: its shape, and how it is shown.
import type { Receipt } from '@methods/api/question';
import type { Run } from '@methods/api/run';
import { type ForReader, refusalWords, showForm, showQuestion } from '../question/show-question.ts';
import { partyWords, showAnswers, showVotes } from '../runs/show-answers.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { timeOf } from '../terminal/words.ts';

export interface InboxItem extends ForReader {
  readonly run_id: string;
  readonly method: string;
  readonly step: string;
  readonly prompt: string;
  readonly asked_at: string | null;
  readonly deadline_at: string | null;
  readonly closed_at?: string | null;
  /** A person's id, or the only address that is asked. */
  readonly assignee: string | null;
  readonly to?: readonly string[];
  readonly needs?: number;
  /** Its run is in device mode: only the holder of its content key can read it. */
  readonly on_device?: true;
  readonly votes_given?: number;
  readonly warnings?: readonly { readonly message: string }[];
}

export interface WholeQuestion extends InboxItem {
  readonly question?: NonNullable<Run['question']>;
  readonly receipt?: Receipt;
}

const ON_DEVICE = '(its content is on devices:  methods inbox show  with its key)';

/** Returns the prompt, and how many of the people have answered. */
export function promptWords(item: InboxItem): string {
  const { prompt, needs, votes_given: votes = 0, may_answer: mayAnswer } = item;
  const words = item.on_device === true ? ON_DEVICE : needs === undefined ? prompt : `[${votes} of ${needs}] ${prompt}`;
  return mayAnswer === false ? `(for others) ${words}` : words;
}

/** `names`: of the person it is assigned to, by id. */
export function showWhole(whole: WholeQuestion, names: ReadonlyMap<string, string>, output: Output): void {
  const { id, state, run_id: runId, step, question, receipt } = whole;
  output.line(`${id} ${state}`);
  output.line(output.paint('dim', plainText(`run ${runId}, step ${step}, method ${whole.method}`)));
  output.line(output.paint('dim', timesOf(whole)));
  const { assignee } = whole;
  if (assignee !== null) output.line(`  given to ${plainText(names.get(assignee) ?? assignee)}`);
  if (whole.to !== undefined) output.line(`  asks ${plainText(whole.to.join(', '))}`);
  for (const { from, to } of question?.delegations ?? []) {
    output.line(`  ${plainText(`delegated by ${partyWords(from)} to ${partyWords(to)}`)}`);
  }
  const refusal = refusalWords(whole);
  if (refusal !== null) output.line(output.paint('yellow', `  ${refusal}`));
  for (const { message } of whole.warnings ?? []) output.line(output.paint('yellow', `  ${plainText(message)}`));
  if (question !== undefined && question.sealed === undefined) {
    showQuestion(question, output);
    if (state === 'open') {
      showVotes(question, output);
      showForm(question, output);
    }
  }
  output.line();
  if (receipt !== undefined) showAnswers({ answers: [receipt] }, output);
}

function timesOf({ asked_at: asked, deadline_at: deadline, closed_at: closed }: InboxItem): string {
  const until = closed ? `, closed ${timeOf(closed)}` : deadline === null ? '' : `, due ${timeOf(deadline)}`;
  return `asked ${timeOf(asked)}${until}`;
}
