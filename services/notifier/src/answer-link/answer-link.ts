// An answer link as it is stored, and its state.
import type { OrgId, QuestionId, RunId, UserId } from '@methods/base/ids';

export interface NewLink {
  readonly orgId: OrgId;
  readonly tokenSha256: Buffer;
  readonly runId: RunId;
  readonly questionId: QuestionId;
  readonly recipient: string;
  /** Empty for a chat. */
  readonly userId: UserId | '';
  readonly expiresAtMs: number;
}

export interface AnswerLink extends Omit<NewLink, 'tokenSha256'> {
  /** 0: it was not used. */
  readonly usedAtMs: number;
  /** 0: neither its question nor its recipient's access has ended, as far as is known. */
  readonly endedAtMs: number;
}

export type LinkState = 'open' | 'used' | 'ended' | 'expired';

/** Days that a link of a question without a deadline is open. */
const OPEN_DAYS = 7;
const DAY_MS = 86_400_000;

/** A link is open until its question's deadline; without one for a week. */
export function linkExpiresAtMs(deadlineAtMs: number, nowMs: number): number {
  return deadlineAtMs > 0 ? deadlineAtMs : nowMs + OPEN_DAYS * DAY_MS;
}

/** What happened first counts: a used link stays used after its question has ended. */
export function linkState(link: AnswerLink, hasAccess: boolean, nowMs: number): LinkState {
  if (link.usedAtMs > 0) return 'used';
  if (link.endedAtMs > 0 || !hasAccess) return 'ended';
  return nowMs >= link.expiresAtMs ? 'expired' : 'open';
}
