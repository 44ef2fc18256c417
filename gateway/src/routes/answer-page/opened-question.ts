// What the routes of the answer page need of the services behind them.
import type { RequestDoer } from '../../clients/registry-calls.ts';
import type { AskedQuestion, PageVisitor, SentAnswer } from './asked-question.ts';

export interface AnswerLinks {
  /** Changes nothing. Null: no link has this token. @throws ServiceError unavailable */
  open(token: string, requestId: string): Promise<OpenedQuestion | null>;
}

type From = Pick<RequestDoer, 'ip' | 'requestId'>;

/** A question as one visitor has opened it: by a link, or signed in. */
export interface OpenedQuestion {
  readonly orgId: AskedQuestion['orgId'];
  readonly visitor: PageVisitor;
  /** Null: it is not kept any more. */
  readonly question: AskedQuestion | null;
  /** The question afterwards. @throws ServiceError the refusal of the run, unavailable */
  answer(sent: SentAnswer, from: From): Promise<AskedQuestion>;
  /** `to`: an address. The name of the member who may answer too from now on. @throws ServiceError as `answer` */
  delegate(to: string, from: From): Promise<string>;
  /** The question as it is now. @throws ServiceError unavailable */
  again(): Promise<AskedQuestion>;
}
