// What the routes of the answer page need of the services behind them.
import type { RequestDoer } from '../../clients/registry-calls.ts';
import type { AskedQuestion, PageVisitor, SentAnswer } from './asked-question.ts';

export interface AnswerLinks {
  /** Changes nothing. Null: no link has this token. @throws ServiceError unavailable */
  open(token: string, requestId: string): Promise<OpenedLink | null>;
}

export interface OpenedLink {
  readonly orgId: AskedQuestion['orgId'];
  readonly visitor: PageVisitor;
  /** Null: it is not kept any more. */
  readonly question: AskedQuestion | null;
  /** The question afterwards. @throws ServiceError the refusal of the run, unavailable */
  answer(sent: SentAnswer, from: Pick<RequestDoer, 'ip' | 'requestId'>): Promise<AskedQuestion>;
  /** The question as it is now. @throws ServiceError unavailable */
  again(): Promise<AskedQuestion>;
}
