// A page of a list, newest first. The last row's id determines the following rows, so a page costs the same at any
// depth, and rows created meanwhile move nothing.
import { ServiceError } from '@methods/errors/service-error';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const CURSOR_CHARACTERS_MAX = 128;

export interface PageRequest {
  /** Only rows whose id is below this one; null: begins with the newest. */
  readonly below: string | null;
  /** 1 to 200. */
  readonly limit: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Empty: there are no more. */
  readonly nextCursor: string;
}

/**
 * A limit of 0 means the default, 50. @throws ServiceError invalid_request; `isKey` decides whether a cursor's id is
 * valid.
 */
export function pageRequest(
  { cursor, limit }: { readonly cursor: string; readonly limit: number },
  isKey: (id: string) => boolean,
): PageRequest {
  if (limit > LIMIT_MAX) {
    throw new ServiceError('invalid_request', `limit is at most ${LIMIT_MAX}.`, {
      findings: [{ path: '/limit', code: 'limit', message: `It is more than ${LIMIT_MAX}.` }],
    });
  }
  const below = cursor === '' ? null : idOf(cursor);
  if (below !== null && !isKey(below)) throw badCursor();
  return { below, limit: limit === 0 ? LIMIT_DEFAULT : limit };
}

/**
 * Builds a page of up to `limit + 1` rows in the list's order; the extra one only shows that there are more. `reach`:
 * the id at which the page stopped reading; null: it read to the end.
 */
export function pageOf<Item>(
  rows: readonly Item[],
  limit: number,
  idOfItem: (item: Item) => string,
  reach: string | null = null,
): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last !== undefined ? idOfItem(last) : reach;
  return { items, nextCursor: next === null ? '' : Buffer.from(next).toString('base64url') };
}

function idOf(cursor: string): string {
  if (cursor.length > CURSOR_CHARACTERS_MAX) throw badCursor();
  const id = Buffer.from(cursor, 'base64url').toString();
  // Node decodes base64 leniently; only a text that we issued is a cursor.
  if (Buffer.from(id).toString('base64url') !== cursor) throw badCursor();
  return id;
}

function badCursor(): ServiceError {
  return new ServiceError('invalid_request', 'The cursor is not one of this list.', {
    findings: [{ path: '/cursor', code: 'cursor', message: 'Use next_cursor unchanged.' }],
  });
}
