// The people who get an e-mail about a question.
import { isRole, mayActAs, type Role } from '@methods/auth/caller';
import type { UserId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';

export const RECIPIENTS_MAX = 50;
const NAMED_MAX = 50;
const ADDRESS_CHARACTERS_MAX = 320;
const ROLES: readonly Role[] = ['viewer', 'member', 'admin'];

/**
 * Why a person gets the mail: the question names them; or it names no one, and they are its method's publisher or an
 * admin.
 */
export type Reason = 'named' | 'publisher' | 'admin';

export interface Recipient {
  /** Empty: no member has the address. */
  readonly userId: UserId | '';
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  readonly reason: Reason;
}

/** The people that a question names. */
export interface Named {
  /** In lower case. */
  readonly addresses: readonly string[];
  /** Includes higher roles: an admin is also a member. */
  readonly roles: readonly Role[];
}

/** @throws ServiceError invalid_request. An address here is only compared, never used as a destination. */
export function named(to: readonly string[]): Named {
  if (to.length > NAMED_MAX) throw refused('to_count', `A question names at most ${NAMED_MAX} addresses and roles.`);
  if (to.some((each) => each.length > ADDRESS_CHARACTERS_MAX)) throw refused('to_length', 'An address is too long.');
  const words = [...new Set(to.map((each) => each.trim().toLowerCase()))];
  return {
    addresses: words.filter((word) => !isRole(word)),
    roles: ROLES.filter((role) => words.some((word) => isRole(word) && mayActAs(role, word))),
  };
}

function refused(code: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { findings: [{ path: '/to', code, message }] });
}
