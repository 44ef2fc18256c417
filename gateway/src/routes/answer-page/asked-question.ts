// A question as its page shows it, and the answer that the page sends.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { RequestDoer } from '../../clients/registry-calls.ts';
import type { RefusalName } from '../../views/inbox-view.ts';

// The services that the routes of the answer page need.
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
  /**
   * Returns the question after the answer. @throws ServiceError the refusal of the run; unavailable: the answer may
   * count
   */
  answer(sent: SentAnswer, from: From): Promise<AskedQuestion>;
  /** `to`: an address. Returns the name of the member who may now answer too. @throws ServiceError as `answer` */
  delegate(to: string, from: From): Promise<string>;
  /** Returns the question as it is now. @throws ServiceError unavailable */
  again(): Promise<AskedQuestion>;
}

export interface AskedQuestion {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly questionId: QuestionId;
  readonly orgName: string;
  readonly methodName: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly step: string;
  readonly prompt: string;
  readonly details: string;
  readonly show: readonly { readonly path: string; readonly valueJson: string }[];
  /** JSON Schema; empty: the content is kept on devices. */
  readonly formJson: string;
  /** 0: none. */
  readonly deadlineAtMs: number;
  /** The answer at the deadline; empty: the run fails. */
  readonly timeoutAnswerJson: string;
  readonly state: 'open' | 'answered' | 'expired' | 'cancelled';
  /** 0: the question is open. */
  readonly closedAtMs: number;
  /** How many equal answers decide; 0: one answer decides. */
  readonly needs: number;
  readonly votes: readonly GivenAnswer[];
  /** A comment beside the answer is kept. */
  readonly takesComment: boolean;
  /** Why an answer of its reader would not count; null: it would, or it is decided when the answer comes. */
  readonly refusal: RefusalName | null;
  /** The accepted answer, with its known fields. */
  readonly receipt: GivenAnswer | null;
}

export interface GivenAnswer {
  /** A person's name or address, or the kind of program, as shown to people. */
  readonly by: string;
  /** The recipient whose link gave it; empty for other channels. */
  readonly linkRecipient: string;
  /** The answer of the method itself, at the deadline. */
  readonly timedOut?: boolean;
  /** All people who agreed on it; absent: one answer decided. */
  readonly agreed?: readonly string[];
  readonly atMs: number;
  /** Empty: it is unknown here. */
  readonly answerJson: string;
  readonly comment: string;
}

/** The visitor of the page, and whether they may still answer. */
export interface PageVisitor {
  /** As shown: an address, or a chat's name. */
  readonly name: string;
  /** For a link its recipient; null for a person who signed in. */
  readonly linkRecipient: string | null;
  /** `over`: the link has expired, and a person may sign in instead. */
  readonly state: 'open' | 'used' | 'ended' | 'over';
}

export interface SentAnswer {
  readonly answerJson: string;
  readonly comment: string;
}

// Refuses a person whom a page names and who is not a member of the organization.
export function noMember(): never {
  const message = 'is not the verified address of a member of the organization';
  throw new ServiceError('invalid_request', message, { findings: [{ path: '/to', code: 'no_member', message }] });
}
