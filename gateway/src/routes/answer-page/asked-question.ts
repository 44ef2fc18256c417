// A question as its page shows it, and the answer that the page sends.
import type { OrgId, QuestionId, RunId } from '@methods/base/ids';
import type { RefusalName } from '../../views/inbox-view.ts';

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
