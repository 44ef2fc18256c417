// Derives the person from a verified token or a sign-in, by the claims that this server is configured to read.
import { isRole, mayActAs, type Role } from './caller.ts';

/** A person as the claims of a verified token or a sign-in describe them. */
export interface Identity {
  /** The issuer's own id of the organization. */
  readonly externalOrgId: string;
  /** Empty: unknown. */
  readonly orgName: string;
  readonly subject: string;
  readonly email: string;
  /** Absent: the token does not contain it. */
  readonly emailVerified?: boolean;
  readonly name: string;
  /** Empty: the issuer claims no role, or none of ours. */
  readonly claimedRole: Role | '';
}

export interface ClaimNames {
  readonly orgClaim: string;
  readonly orgNameClaim: string;
  readonly roleClaim: string | null;
}

type Claims = Readonly<Record<string, unknown>>;

const ID_CHARACTERS_MAX = 256;
const EMAIL_CHARACTERS_MAX = 320;
const NAME_CHARACTERS_MAX = 256;
// Control characters and unpaired surrogates.
const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;

/** Null: the claims name no organization. `sub` is present: the verification requires it. */
export function identityOf(claims: Claims, names: ClaimNames): Identity | null {
  const externalOrgId = idOf(claims[names.orgClaim]);
  const subject = idOf(claims.sub);
  if (externalOrgId === '' || subject === '') return null;
  return {
    externalOrgId,
    subject,
    orgName: shownText(claims[names.orgNameClaim], NAME_CHARACTERS_MAX),
    email: emailOf(claims.email),
    ...verifiedOf(claims.email_verified),
    name: shownText(claims.name, NAME_CHARACTERS_MAX),
    claimedRole: names.roleClaim === null ? '' : roleOf(claims[names.roleClaim]),
  };
}

export function noOrganization({ orgClaim }: ClaimNames): string {
  return `The sign-in names no organization: the identity provider gives no claim ${orgClaim}.`;
}

// An id is compared, so it is never cut: one that is too long is ignored.
function idOf(value: unknown): string {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || UNSTORABLE.test(text)) return '';
  return [...text].length <= ID_CHARACTERS_MAX ? text : '';
}

function shownText(value: unknown, charactersMax: number): string {
  if (typeof value !== 'string') return '';
  const characters = [...value.replaceAll(new RegExp(UNSTORABLE, 'gu'), ' ').trim()];
  return characters.slice(0, charactersMax).join('');
}

// A cut address would be a different one.
function emailOf(value: unknown): string {
  const text = shownText(value, EMAIL_CHARACTERS_MAX + 1);
  return [...text].length <= EMAIL_CHARACTERS_MAX ? text : '';
}

// Some issuers send it as a text, and some omit it from one of their tokens.
function verifiedOf(value: unknown): { emailVerified?: boolean } {
  return value === undefined || value === null ? {} : { emailVerified: value === true || value === 'true' };
}

// Some issuers send a list: the highest role in it counts.
function roleOf(value: unknown): Role | '' {
  const claimed = (Array.isArray(value) ? value : [value]).filter(
    (each): each is Role => typeof each === 'string' && isRole(each),
  );
  return claimed.reduce<Role | ''>((best, each) => (best === '' || mayActAs(each, best) ? each : best), '');
}
