// Ids are opaque to callers, sortable by creation and readable by prefix: Crockford base32 in lower case,
// 10 characters of time and 16 random ones. A run's id names its shard in the first two characters instead.
import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const BODY = /^[0-9a-hjkmnp-tv-z]{26}$/;

export type IdPrefix =
  | 'ver'
  | 'run'
  | 'upl'
  | 'key'
  | 'dlv'
  | 'q'
  | 'org'
  | 'fld'
  | 'usr'
  | 'aud'
  | 'bld'
  | 'file'
  | 'ep'
  | 'bulk';

/**
 * An id's prefix is its type, so that one cannot be used for another. A text becomes an id by `isId`, by a function
 * that makes ids, or from a row or message whose field says so (ADR 0036).
 */
export type Id<Prefix extends IdPrefix> = `${Prefix}_${string}`;
export type OrgId = Id<'org'>;
export type RunId = Id<'run'>;
export type VersionId = Id<'ver'>;
/** The version of a file that is run without being saved. */
export type LocalVersionId = `local-${string}`;
export type KeyId = Id<'key'>;
export type QuestionId = Id<'q'>;
export type UserId = Id<'usr'>;
export type UploadId = Id<'upl'>;
export type FileId = Id<'file'>;
export type FolderId = Id<'fld'>;
export type DeliveryId = Id<'dlv'>;
export type AuditId = Id<'aud'>;
export type EndpointId = Id<'ep'>;
/** A change of many runs. */
export type BulkId = Id<'bulk'>;
/** A method's id in production form, which runs, queues and workers use. */
export type ProductionId = `wf_${string}`;

declare const bare: unique symbol;
/** A method's bare id, without a prefix. */
export type MethodId = string & { readonly [bare]: 'method' };

/** `<prefix>_` and 26 characters. */
export function newId<Prefix extends IdPrefix>(prefix: Prefix, nowMs: number = Date.now()): Id<Prefix> {
  return `${prefix}_${timePart(nowMs)}${randomPart(16)}`;
}

/** Always the same for the same time and the same other id: its random part is that of the other. */
export function idLike<Prefix extends IdPrefix>(prefix: Prefix, atMs: number, other: Id<IdPrefix>): Id<Prefix> {
  return `${prefix}_${timePart(atMs)}${other.slice(-16)}`;
}

/** A method's bare id; `wf_<id>` is its production form. */
export function newMethodId(nowMs: number = Date.now()): MethodId {
  return `${timePart(nowMs)}${randomPart(16)}` as MethodId;
}

export function newRunId(shard: number, nowMs: number = Date.now()): RunId {
  return `run_${shardPart(shard)}${timePart(nowMs)}${randomPart(14)}`;
}

/**
 * A bound for ids: those of the shard's runs created before `atMs` sort below it, all others of the shard above. Not an
 * id itself.
 */
export function runIdBound(shard: number, atMs: number): RunId {
  return `run_${shardPart(shard)}${timePart(Math.max(0, atMs))}`;
}

/** A bound, not an id itself: ids made before `atMs` sort below it, all others above. For a run: `runIdBound`. */
export function idBound<Prefix extends Exclude<IdPrefix, 'run'>>(prefix: Prefix, atMs: number): Id<Prefix> {
  return `${prefix}_${timePart(Math.max(0, atMs))}`;
}

export function isId<Prefix extends IdPrefix>(prefix: Prefix, text: string): text is Id<Prefix> {
  return text.startsWith(`${prefix}_`) && BODY.test(text.slice(prefix.length + 1));
}

/** Returns the shard that a run id names, or null when the id is malformed or names no shard below `shardCount`. */
export function shardOfRunId(runId: string, shardCount: number): number | null {
  if (!isId('run', runId)) return null;
  const shard = ALPHABET.indexOf(runId.charAt(4)) * 32 + ALPHABET.indexOf(runId.charAt(5));
  return shard < shardCount ? shard : null;
}

/** Returns the bare method id of either spelling, or null when malformed. */
export function bareMethodId(text: string): MethodId | null {
  const body = text.startsWith('wf_') ? text.slice(3) : text;
  return BODY.test(body) ? (body as MethodId) : null;
}

export function productionMethodId(bareId: MethodId): ProductionId {
  return `wf_${bareId}`;
}

const TOKEN_BYTES = 16;
/** One call of the random source serves a hundred tokens. */
let tokenPool = Buffer.alloc(0);

/** 128 random bits as 32 hex digits: attempt tokens, worker and node ids. */
export function randomToken(): string {
  if (tokenPool.length === 0) tokenPool = randomFillSync(Buffer.allocUnsafeSlow(100 * TOKEN_BYTES));
  const token = tokenPool.toString('hex', 0, TOKEN_BYTES);
  tokenPool = tokenPool.subarray(TOKEN_BYTES);
  return token;
}

function shardPart(shard: number): string {
  return ALPHABET.charAt((shard >> 5) & 31) + ALPHABET.charAt(shard & 31);
}

function timePart(nowMs: number): string {
  let rest = Math.floor(nowMs);
  let text = '';
  for (let i = 0; i < 10; i++) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

// Random bytes come from a pool: one system call for hundreds of ids.
const pool = Buffer.alloc(4096);
let poolUsed = pool.length;

function randomPart(length: number): string {
  if (poolUsed + length > pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  let text = '';
  for (let i = 0; i < length; i++) text += ALPHABET.charAt((pool[poolUsed++] as number) & 31);
  return text;
}
