// The gateways' calls about questions. Lists and whole questions are read from the database; changes go to the owner of
// the run, which decides.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId, type OrgId, type QuestionId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';
import { Answerer } from '@methods/proto/run/v1/run_pb';
import {
  type AnswerQuestionRequest,
  AnswerRefusal,
  type AssignQuestionRequest,
  type CountQuestionsRequest,
  type CountQuestionsResponseSchema,
  type DelegateQuestionRequest,
  type QuestionFilter as FilterMessage,
  type GetQuestionRequest,
  type ListQuestionsRequest,
  type ListQuestionsResponseSchema,
  type QuestionItemSchema,
  type QuestionService,
  QuestionState,
} from '@methods/proto/scheduler/v1/question_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import type { RunOwners } from '../bus/run-owners.ts';
import { type Answerers, answerersOf, answerRefusal, type AnswerRefusal as RefusalName } from '../run/answerers.ts';
import type { Party } from '../run/party.ts';
import type { QuestionFinder } from '../store/question-finder.ts';
import {
  type Answerer as AnswererName,
  isOneRange,
  type ListedQuestion,
  type QuestionFilter,
  type QuestionLists,
  type QuestionPlace,
} from '../store/question-lists.ts';
import { answerersOfRow, type PeopleOfQuestion, type QuestionState as StateName } from '../store/question-rows.ts';
import { partyMessage, partyOf, questionMessage, receiptMessage } from '../wire/question-message.ts';
import { answererNumber } from '../wire/run-message.ts';
import type { AnswerRuns } from './answer-run.ts';
import type { RestedTurns } from './rested-turns.ts';

interface Named {
  readonly orgId: OrgId;
  readonly questionId: QuestionId;
}

export class QuestionRpc {
  constructor(
    private readonly options: {
      readonly lists: QuestionLists;
      readonly finder: QuestionFinder;
      readonly turns: RestedTurns;
      readonly answers: Pick<AnswerRuns, 'answer'>;
      readonly owners: Pick<RunOwners, 'tell'>;
    },
  ) {}

  readonly handlers: ServiceImplementation<typeof QuestionService> = {
    listQuestions: (request) => read(() => listQuestions(this.options.lists, this.options.turns, request)),
    countQuestions: (request) => read(() => countQuestions(this.options.lists, this.options.turns, request)),
    getQuestion: (request) => read(() => this.get(request)),
    assignQuestion: (request) => this.assign(request),
    delegateQuestion: (request) => this.delegate(request),
    answerQuestion: (request) => this.answer(request),
  };

  private async get({ orgId, questionId, reader }: GetQuestionRequest) {
    const found = isId('q', questionId) ? await this.options.finder.find(orgId, questionId) : null;
    if (found === null) throw missing();
    const { listed, state, closedAtMs, question, receipt, starter, metadata } = found;
    const answerers = question === null ? null : answerersOf({ starter }, question);
    const refusal = state === 'open' ? refusalOf(answerers, partyOf(reader)) : AnswerRefusal.CLOSED;
    return {
      item: questionItem(listed, refusal, state, closedAtMs),
      ...(question && { question: questionMessage(question) }),
      ...(receipt && { receipt: receiptMessage(receipt) }),
      ...(starter && { starter: partyMessage(starter) }),
      metadata: { ...metadata },
    };
  }

  private async assign(request: AssignQuestionRequest) {
    const { questionId } = request;
    const [by, assignee] = [named(request.by), partyOf(request.assignee)];
    return this.told(request, { type: 'assign_question', questionId, by, assignee });
  }

  private async delegate(request: DelegateQuestionRequest) {
    const { questionId } = request;
    const [by, to] = [named(request.by), named(request.to)];
    return this.told(request, { type: 'delegate_question', questionId, by, to });
  }

  private async answer({ $typeName: _, ...request }: AnswerQuestionRequest) {
    const runId = await this.runOf(request);
    const $typeName = 'methods.scheduler.v1.AnswerRun' as const;
    return { run: await this.options.answers.answer({ ...request, $typeName, runId }) };
  }

  private async told(question: Named, command: Parameters<RunOwners['tell']>[2]) {
    const runId = await this.runOf(question);
    await this.options.owners.tell(question.orgId, runId, command);
    return { run: { runId } };
  }

  private async runOf({ orgId, questionId }: Named): Promise<RunId> {
    const find = () => this.options.finder.runOf(orgId, questionId);
    const runId = isId('q', questionId) ? await read(find) : null;
    if (runId === null) throw missing();
    return runId;
  }
}

async function read<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageFault(error);
  }
}

function named(actor: Parameters<typeof partyOf>[0]): Party {
  const party = partyOf(actor);
  if (party === null) throw new ServiceError('invalid_request', 'The request names no one.');
  return party;
}

function missing(): ServiceError {
  return new ServiceError('not_found', 'There is no such question.');
}

const STATE: Record<StateName, QuestionState> = {
  open: QuestionState.OPEN,
  answered: QuestionState.ANSWERED,
  expired: QuestionState.EXPIRED,
  cancelled: QuestionState.CANCELLED,
};

const REFUSAL: Record<RefusalName, AnswerRefusal> = {
  viewer: AnswerRefusal.VIEWER,
  program: AnswerRefusal.PROGRAM,
  starter: AnswerRefusal.STARTER,
  not_named: AnswerRefusal.NOT_NAMED,
  voted: AnswerRefusal.VOTED,
};

/** Unspecified where the reader or the people are unknown. */
function refusalOf(answerers: Answerers | null, reader: Party | null): AnswerRefusal {
  if (answerers === null || reader === null) return AnswerRefusal.UNSPECIFIED;
  const refusal = answerRefusal(answerers, reader);
  return refusal === null ? AnswerRefusal.NONE : REFUSAL[refusal];
}

/** Converts questions of lists to messages. */
export function questionItem(
  row: ListedQuestion,
  refusal: AnswerRefusal,
  state: StateName = 'open',
  closedAtMs: number | null = null,
): MessageInitShape<typeof QuestionItemSchema> {
  const people = row.people_json === null ? null : (JSON.parse(row.people_json) as PeopleOfQuestion);
  return {
    questionId: row.question_id,
    runId: row.run_id,
    method: row.method,
    versionId: row.version_id,
    step: row.step,
    prompt: row.prompt,
    askedAtMs: row.asked_at_ms,
    dueAtMs: row.due_at_ms ?? 0,
    state: STATE[state],
    answerBy: answererNumber(row.answer_by),
    assignee: row.assignee,
    ...(people && { to: [...people.to], notStarter: people.notStarter, needs: people.needs }),
    escalateTo: [...(people?.escalateTo ?? [])],
    votes: row.votes,
    closedAtMs: closedAtMs ?? 0,
    onDevice: row.on_device,
    refusal,
  };
}

/** Unspecified: either. */
function answererNames(answerBy: Answerer): readonly AnswererName[] {
  switch (answerBy) {
    case Answerer.APPLICATION:
      return ['application'];
    case Answerer.TEAM:
      return ['team'];
    default:
      return ['team', 'application'];
  }
}

// Lists and counts an organization's open questions. Any node reads them: it needs no actor and no shard.

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
/** Each assignee is a separate range that a page reads. */
const ASSIGNEES_MAX = 10;

/** @throws ServiceError invalid_request for a cursor that this list did not issue */
async function listQuestions(
  lists: Pick<QuestionLists, 'page'>,
  turns: Pick<RestedTurns, 'run'>,
  { orgId, filter, cursor, limit, reader }: ListQuestionsRequest,
): Promise<MessageInitShape<typeof ListQuestionsResponseSchema>> {
  const selected = filterOf(orgId, filter);
  const after = cursor === '' ? null : placeOf(cursor, selected);
  const page = () => lists.page(selected, after, Math.min(limit || LIMIT_DEFAULT, LIMIT_MAX));
  // Such a page costs no more than reading a run.
  const { questions, next } = isOneRange(selected) ? await page() : await turns.run(orgId, page);
  const by = partyOf(reader);
  return {
    questions: questions.map((question) => questionItem(question, refusalOf(answerersOfRow(question), by))),
    nextCursor: next === null ? '' : cursorOf(next),
  };
}

async function countQuestions(
  lists: Pick<QuestionLists, 'count'>,
  turns: Pick<RestedTurns, 'run'>,
  { orgId, filter }: CountQuestionsRequest,
): Promise<MessageInitShape<typeof CountQuestionsResponseSchema>> {
  const selected = filterOf(orgId, filter);
  const count = () => lists.count(selected);
  // A count of one range reads no more than a few pages do.
  return isOneRange(selected) ? count() : turns.run(orgId, count);
}

function filterOf(orgId: OrgId, filter: FilterMessage | undefined): QuestionFilter {
  const { assignees = [], unassigned = false, method = '', dueBeforeMs = 0, answerBy = 0 } = filter ?? {};
  if (assignees.length > ASSIGNEES_MAX || (unassigned && assignees.length > 0)) {
    throw new ServiceError('invalid_request', `A list is of at most ${ASSIGNEES_MAX} assignees, or of none.`);
  }
  const chosen = assignees.filter((assignee) => assignee !== '');
  return {
    orgId,
    answerBy: answererNames(answerBy),
    assignees: unassigned ? [''] : chosen.length > 0 ? chosen : null,
    method,
    dueBeforeMs: dueBeforeMs > 0 ? Math.ceil(dueBeforeMs) : null,
  };
}

function cursorOf({ dueAtMs, questionId }: QuestionPlace): string {
  return Buffer.from(`${dueAtMs ?? ''}/${questionId}`).toString('base64url');
}

function placeOf(cursor: string, { dueBeforeMs }: QuestionFilter): QuestionPlace {
  const [dueAt = '', questionId = '', ...more] = Buffer.from(cursor.slice(0, 128), 'base64url').toString().split('/');
  const isOfList = dueBeforeMs === null ? dueAt === '' : /^\d{1,15}$/.test(dueAt);
  if (more.length === 0 && isOfList && isId('q', questionId)) {
    const place = { dueAtMs: dueAt === '' ? null : Number(dueAt), questionId };
    // Node decodes base64 leniently; only a cursor that we issued is accepted.
    if (cursorOf(place) === cursor) return place;
  }
  throw new ServiceError('invalid_request', 'The cursor is not one of this list.', {
    findings: [{ path: '/cursor', code: 'cursor', message: 'Use next_cursor unchanged.' }],
  });
}
