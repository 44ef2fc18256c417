// A party that starts a run or answers its questions, as the run stores it: a person, a service key, or the recipient
// of a link.
import type { KeyId } from '@methods/base/ids';

export interface Party {
  /** usr_...; empty for a key, and for a recipient who is no member. */
  readonly personId: string;
  /** Empty for people. */
  readonly keyId: KeyId | '';
  /** Verified, in lower case; empty: none is known. */
  readonly email: string;
  readonly name: string;
  /** Empty for keys, and for a recipient who is no member. */
  readonly role: Role | '';
  /** The address a link was sent to, in lower case, or the name of the endpoint that showed it; empty for all others. */
  readonly linkRecipient: string;
  /** Name and version of the MCP client that acted for the person; absent: none. */
  readonly client?: string;
}

/** What one person is known by. */
export type Named = Pick<Party, 'personId' | 'email' | 'linkRecipient'>;

export type Role = 'admin' | 'member' | 'viewer';

/** The lowest first: each role may do everything that the roles before it may. */
const ROLES: readonly (Role | '')[] = ['viewer', 'member', 'admin'];

export type Channel = 'api' | 'cli' | 'inbox' | 'link' | 'chat' | 'handler' | 'mcp' | 'timeout';

export function isPerson({ personId, email, linkRecipient }: Party): boolean {
  return personId !== '' || email !== '' || linkRecipient !== '';
}

/**
 * Reports whether both are the same person, by id or by a verified address: a member with the recipient's address is
 * the recipient.
 */
export function isSamePerson(a: Named, b: Named): boolean {
  if (a.personId !== '' && a.personId === b.personId) return true;
  const addresses = addressesOf(b);
  return addressesOf(a).some((address) => addresses.includes(address));
}

export function addressesOf({ email, linkRecipient }: Pick<Named, 'email' | 'linkRecipient'>): string[] {
  return [email, linkRecipient].filter((address) => address !== '');
}

export function hasRole({ role }: Party, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

/** Null: unknown. */
export function starterOf({
  starter,
  keyId,
}: {
  readonly starter: Party | null;
  readonly keyId: KeyId | '';
}): Party | null {
  if (starter !== null || keyId === '') return starter;
  return { personId: '', keyId, email: '', name: '', role: '', linkRecipient: '' };
}
