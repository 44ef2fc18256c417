// Lists and counts an organization's open questions. Any node reads them: it needs no actor and no shard.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type {
  CountQuestionsRequest,
  CountQuestionsResponseSchema,
  QuestionFilter as FilterMessage,
  ListQuestionsRequest,
  ListQuestionsResponseSchema,
} from '@methods/proto/scheduler/v1/question_service_pb';
import { isOneRange, type QuestionFilter, type QuestionLists, type QuestionPlace } from '../store/question-lists.ts';
import { answerersOf, questionItem } from './question-item.ts';
import type { RestedTurns } from './rested-turns.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
/** Each is a range of its own that a page reads. */
const ASSIGNEES_MAX = 10;

/** @throws ServiceError invalid_request for a cursor that this list did not issue */
export async function listQuestions(
  lists: Pick<QuestionLists, 'page'>,
  turns: Pick<RestedTurns, 'run'>,
  { orgId, filter, cursor, limit }: ListQuestionsRequest,
): Promise<MessageInitShape<typeof ListQuestionsResponseSchema>> {
  const selected = filterOf(orgId, filter);
  const after = cursor === '' ? null : placeOf(cursor, selected);
  const page = () => lists.page(selected, after, Math.min(limit || LIMIT_DEFAULT, LIMIT_MAX));
  // Such a page costs no more than reading a run.
  const { questions, next } = isOneRange(selected) ? await page() : await turns.run(orgId, page);
  return {
    questions: questions.map((question) => questionItem(question)),
    nextCursor: next === null ? '' : cursorOf(next),
  };
}

export async function countQuestions(
  lists: Pick<QuestionLists, 'count'>,
  turns: Pick<RestedTurns, 'run'>,
  { orgId, filter }: CountQuestionsRequest,
): Promise<MessageInitShape<typeof CountQuestionsResponseSchema>> {
  const selected = filterOf(orgId, filter);
  const count = () => lists.count(selected);
  // It reads no more than some pages do.
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
    answerBy: answerersOf(answerBy),
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
    // Node reads base64 leniently; only what we gave out is a cursor.
    if (cursorOf(place) === cursor) return place;
  }
  throw new ServiceError('invalid_request', 'The cursor is not one of this list.', {
    findings: [{ path: '/cursor', code: 'cursor', message: 'Use next_cursor unchanged.' }],
  });
}
