// The gateways' calls about questions. Lists and whole questions are read from the database; what changes a question
// goes to the owner of its run, which decides.
import { isId, type OrgId, type QuestionId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/storage-fault';
import type {
  AnswerQuestionRequest,
  AssignQuestionRequest,
  DelegateQuestionRequest,
  GetQuestionRequest,
  QuestionService,
} from '@methods/proto/scheduler/v1/question_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import type { RunOwners } from '../bus/run-owners.ts';
import type { Party } from '../run/party.ts';
import type { QuestionFinder } from '../store/question-finder.ts';
import type { QuestionLists } from '../store/question-lists.ts';
import { partyMessage, partyOf } from '../wire/party-message.ts';
import { questionMessage, receiptMessage } from '../wire/question-message.ts';
import type { AnswerRuns } from './answer-run.ts';
import { countQuestions, listQuestions } from './list-questions.ts';
import { questionItem } from './question-item.ts';
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

  private async get({ orgId, questionId }: GetQuestionRequest) {
    const found = isId('q', questionId) ? await this.options.finder.find(orgId, questionId) : null;
    if (found === null) throw missing();
    const { listed, state, closedAtMs, question, receipt, starter, metadata } = found;
    return {
      item: questionItem(listed, state, closedAtMs),
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
