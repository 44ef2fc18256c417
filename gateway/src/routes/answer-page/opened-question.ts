// The services that the routes of the answer page need.
import type { RequestDoer } from '../../clients/registry-calls.ts';
import type { AskedQuestion, PageVisitor, SentAnswer } from './asked-question.ts';

export interface AnswerLinks {
  /** Changes nothing. Null: no link has this token. @throws ServiceError unavailable */
  open(token: string, requestId: string): Promise<OpenedQuestion | null>;
}

type From = Pick<RequestDoer, 'ip' | 'requestId'>;

/** A question as one visitor opened it: by a link, or signed in. */
export interface OpenedQuestion {
  readonly orgId: AskedQuestion['orgId'];
  readonly visitor: PageVisitor;
  /** Null: the question is no longer kept. */
  readonly question: AskedQuestion | null;
  /** Returns the question after the answer. @throws ServiceError the refusal of the run, unavailable */
  answer(sent: SentAnswer, from: From): Promise<AskedQuestion>;
  /** `to`: an address. Returns the name of the member who may now answer too. @throws ServiceError as `answer` */
  delegate(to: string, from: From): Promise<string>;
  /** Returns the question as it is now. @throws ServiceError unavailable */
  again(): Promise<AskedQuestion>;
}
