// Name and version of an MCP client, as it reports them itself: in every request of the 2026-07-28 era, and once at the
// beginning in the era before. There the name comes back as the session id, which holds only this text: no state is
// stored for it and it grants no right, so any gateway serves the next request.
import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';

const PART_CHARACTERS_MAX = 80;
const SESSION = /^client\.([A-Za-z0-9_-]{1,700})$/;
// Names are shown in logs and receipts: nothing in them may change how these are read.
const UNSHOWN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Returns an empty text if the client reports no name. */
export function clientName(message: unknown, sessionId: string | string[] | undefined): string {
  const params = objectOf(objectOf(message)?.params);
  const info = objectOf(objectOf(params?._meta)?.[CLIENT_INFO_META_KEY]) ?? infoOfInitialize(message);
  if (info !== null) return nameOf(info);
  const text = typeof sessionId === 'string' ? SESSION.exec(sessionId)?.[1] : undefined;
  return text === undefined ? '' : shown(Buffer.from(text, 'base64url').toString('utf8'), 2 * PART_CHARACTERS_MAX + 1);
}

/** Returns the session id for a client that begins in the earlier era. Null: the message begins no session. */
export function sessionIdFor(message: unknown): string | null {
  const info = infoOfInitialize(message);
  const name = info === null ? '' : nameOf(info);
  return name === '' ? null : `client.${Buffer.from(name, 'utf8').toString('base64url')}`;
}

function infoOfInitialize(message: unknown): Record<string, unknown> | null {
  const request = objectOf(message);
  return request?.method === 'initialize' ? objectOf(objectOf(request.params)?.clientInfo) : null;
}

function nameOf({ name, version }: Record<string, unknown>): string {
  return [name, version]
    .map((part) => (typeof part === 'string' ? shown(part, PART_CHARACTERS_MAX) : ''))
    .filter((part) => part !== '')
    .join(' ');
}

function shown(text: string, charactersMax: number): string {
  return [...text.slice(0, 4 * charactersMax).replaceAll(UNSHOWN, ' ')].slice(0, charactersMax).join('').trim();
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
