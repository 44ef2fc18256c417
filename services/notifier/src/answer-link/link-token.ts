// The token of an answer link. It is derived and not random: a mail that is sent again is rendered again, with the same
// link, and nothing that is stored holds the token.
import { createHash, createHmac } from 'node:crypto';
import type { OrgId, QuestionId } from '@methods/base/ids';
import type { Secret } from '@methods/config/environment';

export interface LinkSettings {
  /** Base64 of 32 bytes. */
  readonly key: Secret;
  /** Where people reach the gateway, without a slash at its end. */
  readonly publicUrl: string;
}

export interface LinkedQuestion {
  readonly orgId: OrgId;
  readonly questionId: QuestionId;
  /** An e-mail address in lower case, or the name of a chat's endpoint. */
  readonly recipient: string;
  /** A further link of the same recipient has the next number. */
  readonly n: number;
}

export interface MadeLink {
  /** A secret: it is in no log and in nothing that is stored. */
  readonly url: string;
  readonly tokenSha256: Buffer;
}

/** The token is 256 bits in base64url, 43 characters. */
export function makeLink(
  { key, publicUrl }: LinkSettings,
  { orgId, questionId, recipient, n }: LinkedQuestion,
): MadeLink {
  // As JSON, no part can run into the next one.
  const named = JSON.stringify(['answer-link', orgId, questionId, recipient, n]);
  const token = createHmac('sha256', Buffer.from(key.reveal(), 'base64')).update(named).digest('base64url');
  return { url: `${publicUrl}/a/${token}`, tokenSha256: createHash('sha256').update(token, 'ascii').digest() };
}
