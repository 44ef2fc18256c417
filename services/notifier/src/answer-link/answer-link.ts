// An answer link as it is stored, its state, and its token.

import { createHash, createHmac } from 'node:crypto';
import type { EndpointId, OrgId, QuestionId, RunId, UserId } from '@methods/base/ids';
import type { Secret } from '@methods/config/environment';

export interface NewLink {
  readonly orgId: OrgId;
  readonly tokenSha256: Buffer;
  readonly runId: RunId;
  readonly questionId: QuestionId;
  readonly recipient: string;
  /** Empty for a chat. */
  readonly userId: UserId | '';
  /** The chat's endpoint; empty for a person. */
  readonly endpointId: EndpointId | '';
  readonly expiresAtMs: number;
}

export interface AnswerLink extends Omit<NewLink, 'tokenSha256'> {
  /** 0: it was not used. */
  readonly usedAtMs: number;
  /** 0: neither its question nor its recipient's access has ended, as far as known. */
  readonly endedAtMs: number;
}

export type LinkState = 'open' | 'used' | 'ended' | 'expired';

/** How many days the link of a question without a deadline is open. */
const OPEN_DAYS = 7;
const DAY_MS = 86_400_000;

/** A link is open until its question's deadline; without one for a week. */
export function linkExpiresAtMs(deadlineAtMs: number, nowMs: number): number {
  return deadlineAtMs > 0 ? deadlineAtMs : nowMs + OPEN_DAYS * DAY_MS;
}

/** The first event counts: a used link stays used after its question has ended. */
export function linkState(link: AnswerLink, hasAccess: boolean, nowMs: number): LinkState {
  if (link.usedAtMs > 0) return 'used';
  if (link.endedAtMs > 0 || !hasAccess) return 'ended';
  return nowMs >= link.expiresAtMs ? 'expired' : 'open';
}

/**
 * The token of an answer link. It is derived, not random, so that a mail that is sent again has the same link although
 * nothing stored holds the token.
 */
export interface LinkSettings {
  /** Base64 of 32 bytes. */
  readonly key: Secret;
  /** The URL at which people reach the gateway, without a slash at the end. */
  readonly publicUrl: string;
}

export interface LinkedQuestion {
  readonly orgId: OrgId;
  readonly questionId: QuestionId;
  /** An e-mail address in lower case, or the id of a chat's endpoint: another one with its name has another link. */
  readonly recipient: string;
  /** A further link of the same recipient has the next number. */
  readonly n: number;
}

interface MadeLink {
  /** A secret: it is neither logged nor stored. */
  readonly url: string;
  readonly tokenSha256: Buffer;
}

/** The token is 256 bits in base64url, 43 characters. */
export function makeLink(
  { key, publicUrl }: LinkSettings,
  { orgId, questionId, recipient, n }: LinkedQuestion,
): MadeLink {
  // As JSON, so that adjacent parts cannot run together.
  const named = JSON.stringify(['answer-link', orgId, questionId, recipient, n]);
  const token = createHmac('sha256', Buffer.from(key.reveal(), 'base64')).update(named).digest('base64url');
  return { url: `${publicUrl}/a/${token}`, tokenSha256: createHash('sha256').update(token, 'ascii').digest() };
}
