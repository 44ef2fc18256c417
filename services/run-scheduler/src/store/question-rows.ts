// The rows of questions that a change of their run asks, changes or closes. Most changes affect none.
import { type Answerers, answerersOf, isForPeople } from '../run/answerers.ts';
import { endOf, openQuestionOf, type QuestionEnd } from '../run/question.ts';
import { type Receipt, shortPrompt } from '../run/receipt.ts';
import type { OpenQuestion, Run } from '../run/run.ts';
import type { Column } from './array-literal.ts';
import type { RunChange } from './run-store.ts';

export interface QuestionRow {
  readonly run: Run;
  readonly question: OpenQuestion;
  readonly state: QuestionState;
  /** Only for an answered question. */
  readonly receipt: Receipt | null;
}

export type QuestionState = 'open' | QuestionEnd;

/** For lists: the people that a question is for. */
export interface PeopleOfQuestion {
  readonly to: readonly string[];
  readonly notStarter: boolean;
  readonly needs: number;
  /** Absent: there are none. */
  readonly escalateTo?: readonly string[];
}

/** What the rules about answers read beside `PeopleOfQuestion`. */
type MoreAnswerers = Omit<Answerers, 'to' | 'notStarter' | 'needs'>;

const NONE: readonly QuestionRow[] = [];
const EVERY_MEMBER: Answerers = {
  ...{ to: [], notStarter: false, needs: 0 },
  ...{ starter: null, escalatedTo: [], delegates: [], voted: [] },
};

export function questionRowsOf({ before, after }: RunChange): readonly QuestionRow[] {
  const was = openQuestionOf(before);
  const is = openQuestionOf(after);
  if (was === is) return NONE;
  const rows: QuestionRow[] = [];
  if (was !== null && was.id !== is?.id) rows.push(closed(was, after));
  if (is !== null) rows.push({ run: after, question: is, state: 'open', receipt: null });
  return rows;
}

function closed(question: OpenQuestion, run: Run): QuestionRow {
  const state = endOf(question, run);
  return { run, question, state, receipt: state === 'answered' ? (run.answers.at(-1) ?? null) : null };
}

const ms = (value: number) => Math.round(value);

export const questionColumns: readonly Column<QuestionRow>[] = [
  { name: 'run_id', type: 'text', value: (r) => r.run.facts.runId },
  { name: 'org_id', type: 'text', value: (r) => r.run.facts.orgId },
  { name: 'question_id', type: 'text', value: (r) => r.question.id },
  { name: 'method', type: 'text', value: (r) => r.run.facts.method },
  { name: 'version_id', type: 'text', value: (r) => r.run.facts.versionId },
  { name: 'step', type: 'text', value: (r) => r.question.step },
  // Only people may answer such a question, even if the run names the application.
  { name: 'answer_by', type: 'text', value: (r) => (isForPeople(r.question) ? 'team' : r.run.facts.answerBy) },
  { name: 'prompt', type: 'text', value: (r) => storable(shortPrompt(r.question.prompt)) },
  { name: 'on_device', type: 'boolean', value: (r) => r.run.facts.contentId !== null },
  { name: 'asked_at_ms', type: 'bigint', value: (r) => ms(r.question.askedAtMs) },
  { name: 'due_at_ms', type: 'bigint', value: (r) => r.question.deadlineAtMs && ms(r.question.deadlineAtMs) },
  { name: 'assignee', type: 'text', value: (r) => r.question.assignee ?? '' },
  { name: 'people_json', type: 'text', value: (r) => peopleJson(r.question) },
  { name: 'answerers_json', type: 'text', value: (r) => answerersJson(r) },
  { name: 'votes', type: 'integer', value: (r) => r.question.votes?.length ?? 0 },
  { name: 'state', type: 'text', value: (r) => r.state },
  { name: 'closed_at_ms', type: 'bigint', value: (r) => (r.state === 'open' ? null : ms(r.run.stateSinceMs)) },
  { name: 'question_json', type: 'text', value: (r) => (r.state === 'open' ? null : JSON.stringify(r.question)) },
  { name: 'receipt_json', type: 'text', value: (r) => r.receipt && JSON.stringify(r.receipt) },
  { name: 'answer_json', type: 'text', value: (r) => (r.receipt === null ? null : wholeAnswer(r)) },
  {
    name: 'unrecorded_at_ms',
    type: 'bigint',
    value: ({ receipt }) => (receipt?.channel === 'timeout' ? ms(receipt.answeredAtMs) : null),
  },
];

/** The columns that change after the question was asked. */
export const changingColumns = questionColumns
  .map(({ name }) => name)
  .slice(questionColumns.findIndex(({ name }) => name === 'assignee'));

function peopleJson(question: OpenQuestion): string | null {
  const { policy } = question;
  if (policy === undefined || !isForPeople(question)) return null;
  const { to, notStarter, needs, escalate } = policy;
  const escalateTo = escalate?.to ?? [];
  const people: PeopleOfQuestion = {
    ...{ to, notStarter, needs: needs?.count ?? 0 },
    ...(escalateTo.length > 0 && { escalateTo }),
  };
  return JSON.stringify(people);
}

/** Null where every member may answer: most rows. A closed question gets no answers. */
function answerersJson({ run: { facts }, question, state }: QuestionRow): string | null {
  if (state !== 'open') return null;
  const { to: _, notStarter: __, needs: ___, ...more } = answerersOf(facts, question);
  const isPlain = more.escalatedTo.length === 0 && more.delegates.length === 0;
  return isPlain && !isForPeople(question) ? null : JSON.stringify(more satisfies MoreAnswerers);
}

/** The answerers of an open question's row; null: a node of an earlier release wrote it, and kept too little. */
export function answerersOfRow(row: {
  readonly people_json: string | null;
  readonly answerers_json: string | null;
}): Answerers | null {
  if (row.answerers_json === null) return row.people_json === null ? EVERY_MEMBER : null;
  const { to, notStarter, needs } =
    row.people_json === null ? EVERY_MEMBER : (JSON.parse(row.people_json) as PeopleOfQuestion);
  return { to, notStarter, needs, ...(JSON.parse(row.answerers_json) as MoreAnswerers) };
}

/** Postgres text cannot hold NUL; in JSON it is escaped. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

/** The receipt has the answer only if it is small. */
function wholeAnswer({ run: { answer }, receipt }: QuestionRow): string | null {
  return answer?.questionId === receipt?.questionId ? (answer?.answerJson ?? null) : (receipt?.answerJson ?? null);
}
