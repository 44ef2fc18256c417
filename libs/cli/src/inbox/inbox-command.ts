// `methods inbox`: lists, shows, answers, assigns and delegates the open questions of the organization.

import type { Run } from '@methods/api/run';
import { isId } from '@methods/base/ids';
import { parseDuration } from '@methods/method/structure/duration';
import { commentOf } from '../answer/answer-comment.ts';
import { answerTo, sayAnswered, withFormHint } from '../answer/answer-on-server.ts';
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { DeviceContent } from '../device/device-content.ts';
import { CommandError, EXIT, type ExitCode, UsageError } from '../errors/command-error.ts';
import { INBOX_WORDS } from '../help-words.ts';
import { refuseForOthers } from '../question/show-question.ts';
import { noteMore, readPage } from '../server/page.ts';
import { getRun, namingValues } from '../server/run-calls.ts';
import type { Page, Query, ServerApi } from '../server/server-api.ts';
import { table, tableWidth } from '../terminal/table.ts';
import { timeOf } from '../terminal/words.ts';
import { type InboxItem, promptWords, showWhole, type WholeQuestion } from './inbox-question.ts';

type Action = (line: CommandLine, context: CommandContext, questionId: string, who: string) => Promise<ExitCode>;
const ACTIONS: Readonly<Record<string, Action>> = { list, show, answer, assign, delegate };
/** The actions of an option; all take --server. */
const OWN_OPTIONS: Readonly<Record<string, string>> = {
  ...{ mine: 'list', unassigned: 'list', assignee: 'list', method: 'list', due: 'list', 'answer-by': 'list' },
  ...{ limit: 'list', cursor: 'list', answer: 'answer', comment: 'answer' },
};
const SWITCHES = ['mine', 'unassigned'];
const ANSWERERS = ['team', 'application', 'all'];
/** In place of a person. */
const NO_ONE = 'no-one';
const NOTHING = 'Nothing is asked of you or your team.';

export const inboxCommand: Command = {
  ...INBOX_WORDS,

  async run(line, context) {
    const [word = 'list', questionId, who] = line.operands;
    const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
    if (action === undefined) {
      throw new UsageError(`inbox cannot "${word}"`, `it can ${Object.keys(ACTIONS).join(', ')}`);
    }
    for (const [name, owner] of Object.entries(OWN_OPTIONS)) {
      const given = SWITCHES.includes(name) ? line.flag(name) : line.text(name) !== undefined;
      if (given && owner !== word) throw new UsageError(`inbox ${word} has no option --${name}`);
    }
    if (action === list && questionId !== undefined) throw new UsageError(`inbox list does not take "${questionId}"`);
    if (action !== list && questionId === undefined) {
      throw new UsageError(`inbox ${word} needs a QUESTION_ID`, 'see  methods inbox');
    }
    if (questionId !== undefined && !isId('q', questionId))
      throw new UsageError(`"${questionId}" is not a question id`);
    if (who !== undefined && action !== assign && action !== delegate) {
      throw new UsageError(`inbox ${word} does not take "${who}"`);
    }
    if (who === undefined && (action === assign || action === delegate)) {
      throw new UsageError(`inbox ${word} needs a person`, `methods inbox ${word} ${questionId} ann@example.com`);
    }
    return action(line, context, questionId ?? '', who ?? '');
  },
};

async function list(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { output, cwd } = context;
  const asked = queryOf(line);
  const api = await openServer(line, context);
  const method = line.text('method');
  const query = method === undefined ? asked : { ...asked, method: (await namedMethod(api, method, cwd)).id };
  const page = await readPage<InboxItem>(api, '/api/inbox', line, query);
  output.document(page);
  if (output.json) return EXIT.done;
  const names = await namesOf(api, page.items);
  const rows = page.items.map((item) => [
    item.id,
    item.deadline_at === null ? '-' : timeOf(item.deadline_at),
    names.get(item.assignee ?? '') ?? item.assignee ?? item.to?.join(', ') ?? '-',
    promptWords(item),
  ]);
  output.result(table(['ID', 'DUE', 'FOR', 'QUESTION'], rows, tableWidth(output)).join('\n'));
  if (rows.length === 0) output.note(Object.keys(query).length === 0 ? NOTHING : 'There are no such questions.');
  for (const { id, warnings = [] } of page.items) for (const { message } of warnings) output.note(`${id}: ${message}`);
  noteMore(page, output);
  return EXIT.done;
}

/** @throws UsageError */
function queryOf(line: CommandLine): Query {
  const [due, assignee] = [line.text('due'), line.text('assignee')];
  const answerBy = line.text('answer-by');
  if ([line.flag('mine'), line.flag('unassigned'), assignee !== undefined].filter(Boolean).length > 1) {
    throw new UsageError('give one of --mine, --unassigned and --assignee');
  }
  if (answerBy !== undefined && !ANSWERERS.includes(answerBy)) {
    throw new UsageError(`--answer-by cannot be "${answerBy}"`, `it is one of ${ANSWERERS.join(', ')}`);
  }
  const withinMs = due === undefined ? null : parseDuration(due);
  if (withinMs === undefined) throw new UsageError(`--due cannot be "${due}"`, 'a time such as 8h or 2d');
  return {
    ...(line.flag('mine') && { mine: true }),
    ...(line.flag('unassigned') && { unassigned: true }),
    ...(assignee !== undefined && { assignee }),
    ...(withinMs !== null && { due_before: new Date(Date.now() + withinMs).toISOString() }),
    ...(answerBy !== undefined && { answer_by: answerBy }),
  };
}

/** The names of the people to whom the questions are assigned. */
async function namesOf(api: ServerApi, items: readonly InboxItem[]): Promise<ReadonlyMap<string, string>> {
  if (!items.some(({ assignee }) => assignee?.startsWith('usr_'))) return new Map();
  const page = await api.get<Page<{ id: string; name: string; email: string }>>('/api/members', { limit: 200 });
  return new Map(page.items.map(({ id, name, email }) => [id, name || email || id]));
}

async function show(line: CommandLine, context: CommandContext, questionId: string): Promise<ExitCode> {
  const api = await openServer(line, context);
  const { closed, whole } = await opened(api, await read(api, questionId), context);
  context.output.document(whole);
  if (closed !== null) context.output.note(`${closed.message}.`);
  if (!context.output.json) showWhole(whole, await namesOf(api, [whole]), context.output);
  return whole.state === 'open' ? EXIT.waiting : EXIT.done;
}

async function answer(line: CommandLine, context: CommandContext, questionId: string): Promise<ExitCode> {
  const { output } = context;
  const comment = commentOf(line);
  const api = await openServer(line, context);
  const whole = await read(api, questionId);
  const { question, state } = whole;
  if (state !== 'open' || question === undefined) {
    throw new CommandError('run_not_waiting', `the question is closed: it was ${state}`, {
      hint: `methods inbox show ${questionId}`,
    });
  }
  if (line.text('answer') === undefined && !output.interactive) return show(line, context, questionId);
  refuseForOthers(whole);
  const formShown = `methods inbox show ${questionId}`;
  const content = await contentOf(api, whole, context);
  const given = await answerTo(content?.question(question) ?? question, line, context, formShown);
  if (given === null) {
    output.note(`Not answered. The question stays open:  methods inbox answer ${questionId}`);
    return EXIT.waiting;
  }
  const body = { answer: content?.answer(question, given) ?? given, ...comment };
  const { value } = await api
    .send<Run>('POST', `${pathOf(questionId)}/answer`, body, { idempotent: true })
    .catch((error: unknown) => {
      throw withFormHint(namingValues(error), formShown);
    });
  output.document(value);
  return sayAnswered(value, questionId, output);
}

async function assign(line: CommandLine, context: CommandContext, questionId: string, who: string): Promise<ExitCode> {
  const assignee = who === NO_ONE ? null : who;
  const value = await change(line, context, `${pathOf(questionId)}/assign`, { assignee });
  context.output.line(
    value.assignee === null
      ? `${questionId} is given to no one.`
      : `${questionId} is given to ${who === 'me' ? 'you' : who}.`,
  );
  return EXIT.done;
}

async function delegate(line: CommandLine, context: CommandContext, questionId: string, who: string) {
  await change(line, context, `${pathOf(questionId)}/delegate`, { to: who });
  const [person, them] = who === 'me' ? ['You', 'you'] : [who, 'them'];
  context.output.line(`${person} may answer ${questionId} now, and it is given to ${them}.`);
  return EXIT.done;
}

async function change(line: CommandLine, context: CommandContext, path: string, body: object): Promise<WholeQuestion> {
  const api = await openServer(line, context);
  const { value } = await api.send<WholeQuestion>('POST', path, body, { idempotent: true });
  context.output.document(value);
  return value;
}

/** Of a question of a run in device mode: what opens it and seals its answer. @throws CommandError */
async function contentOf(api: ServerApi, { on_device: onDevice, run_id: runId }: InboxItem, context: CommandContext) {
  return onDevice === true ? DeviceContent.of(api, await getRun(api, runId), context) : null;
}

/** As the key on this machine opens it; `closed`: why it does not. */
async function opened(
  api: ServerApi,
  whole: WholeQuestion,
  context: CommandContext,
): Promise<{ readonly whole: WholeQuestion; readonly closed: CommandError | null }> {
  const { question } = whole;
  if (question === undefined || whole.on_device !== true) return { whole, closed: null };
  try {
    const content = await contentOf(api, whole, context);
    return { whole: content === null ? whole : { ...whole, question: content.question(question) }, closed: null };
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === 'unreachable') throw error;
    return { whole, closed: error };
  }
}

function read(api: ServerApi, questionId: string): Promise<WholeQuestion> {
  return api.get<WholeQuestion>(pathOf(questionId));
}

function pathOf(questionId: string): string {
  return `/api/questions/${encodeURIComponent(questionId)}`;
}
