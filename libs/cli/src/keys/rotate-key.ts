// Rotates a service key: makes a new one, and grants it the content parts of the old one and of those granted to that.
// They are wrapped here; the server cannot open them.
import { authSha256, parseBearerKey } from '@methods/auth/service-key';
import { ContentKey } from '@methods/content/device/content-key';
import { CommandError } from '../errors/command-error.ts';
import { keyCredential } from '../server/credential.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { revokeKey, type ServerKey } from './key-calls.ts';
import type { LocalKey } from './local-key.ts';
import type { UnfinishedRotation, UnfinishedRotations } from './unfinished-rotations.ts';

/** The server keeps this many grants of a key. */
const GRANTS_MAX = 20;
const KEYS_MAX = 2_000;

export interface Rotated {
  readonly keyId: string;
  readonly serviceKey: string;
  /** Null: another person made the key and saw it. */
  readonly webhookSecret: string | null;
  readonly name: string;
  /** The ids of the keys whose runs the new one opens. */
  readonly granted: readonly string[];
  /** The ids of those whose grants do not open, or for which there is no place. */
  readonly lost: readonly string[];
}

/** `GET /v1/whoami`. */
interface Program {
  readonly key_id: string | null;
  readonly content_grants: readonly { readonly from_key_id: string; readonly wrapped: string }[];
}

interface ContentPart {
  readonly keyId: string;
  readonly contentPart: string;
  readonly authSha256?: string;
}

/** @throws CommandError `not_found`, `another_key`, and as the server refuses */
export async function rotateKey(
  api: ServerApi,
  old: { readonly id: string; readonly key: LocalKey },
  name: string | undefined,
  unfinished: UnfinishedRotations,
): Promise<Rotated> {
  const { organization } = await api.get<{ organization: { id: string } }>('/api/whoami');
  const known = await keyOf(api, old.id);
  const { content_grants: grants } = await programOf(api, old, known);
  const own = new ContentKey(old.key.contentPart, organization.id);
  const hash = authSha256(old.key.authPart).toString('hex');
  const parts: ContentPart[] = [{ keyId: old.id, contentPart: old.key.contentPart, authSha256: hash }];
  const lost: string[] = [];
  // The ids of newer keys are greater.
  for (const { from_key_id: keyId, wrapped } of [...grants].sort((a, b) => (a.from_key_id < b.from_key_id ? 1 : -1))) {
    const contentPart = parts.length < GRANTS_MAX ? opened(own, keyId, wrapped) : null;
    if (contentPart === null) lost.push(keyId);
    else parts.push({ keyId, contentPart });
  }
  const made = await newKey(api, unfinished, name ?? known.name);
  await grantAll(api, made, organization.id, parts).catch(async (error: unknown) => {
    if (!(error instanceof ServerRefusal) || error.details[0]?.code !== 'another_key') throw error;
    // The key that was given is not the revoked one that was named.
    await revokeKey(api, made.keyId);
    await unfinished.forget();
    throw anotherKey(`${old.key.place} is not ${old.id}`);
  });
  return { ...made, granted: parts.map(({ keyId }) => keyId), lost };
}

async function keyOf(api: ServerApi, id: string): Promise<ServerKey> {
  for await (const key of api.items<ServerKey>('/api/keys', {}, KEYS_MAX)) if (key.id === id) return key;
  throw new CommandError('not_found', `there is no key ${id}`, { hint: 'see  methods keys list' });
}

/** What the server knows of the old key. A revoked one is refused; the server compares it when it is granted. */
async function programOf(
  api: ServerApi,
  { id, key }: { readonly id: string; readonly key: LocalKey },
  { revoked_at: revokedAt }: ServerKey,
): Promise<Program> {
  try {
    const program = await api.withKey(keyCredential(key.authPart)).get<Program>('/v1/whoami');
    if (program.key_id === id) return program;
    throw anotherKey(`${key.place} is ${program.key_id ?? 'no key of this server'}, not ${id}`);
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.code !== 'unauthorized') throw error;
    if (revokedAt === null) throw anotherKey(`${key.place} is not ${id}: the server does not accept it`);
    return { key_id: id, content_grants: [] };
  }
}

function anotherKey(message: string): CommandError {
  const hint = 'run it where the old key is, or name its file with --key-file';
  return new CommandError('another_key', message, { hint });
}

function opened(own: ContentKey, keyId: string, wrapped: string): string | null {
  try {
    return own.unwrap(keyId, Buffer.from(wrapped, 'base64url'));
  } catch {
    return null;
  }
}

type Made = Pick<Rotated, 'keyId' | 'serviceKey' | 'webhookSecret' | 'name'>;

async function newKey(api: ServerApi, unfinished: UnfinishedRotations, wanted: string): Promise<Made> {
  for (let again = false; ; again = true) {
    const begun = await unfinished.begin(wanted);
    const made = await madeKey(api, begun);
    if (made !== null) return made;
    if (again) throw new CommandError('internal', 'the server refuses a key that was just made');
    // It was revoked since: it would open nothing.
    await unfinished.forget();
  }
}

/** Null: the key was revoked. A repeat returns the key of the first request. */
async function madeKey(api: ServerApi, { serviceKey, name }: UnfinishedRotation): Promise<Made | null> {
  const authPart = parseBearerKey(serviceKey)?.authPart ?? '';
  const body = { name, auth_sha256: authSha256(authPart).toString('hex') };
  try {
    const { value } = await api.send<{ key: ServerKey; webhook_secret: string }>('POST', '/api/keys', body, {
      idempotent: true,
    });
    return { keyId: value.key.id, serviceKey, webhookSecret: value.webhook_secret, name };
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.code !== 'idempotency_conflict') throw error;
  }
  // Another person began the rotation on this machine, and only they are shown its webhook secret again.
  try {
    const { key_id: keyId } = await asProgram(api, serviceKey);
    return keyId === null ? null : { keyId, serviceKey, webhookSecret: null, name };
  } catch (error) {
    if (error instanceof ServerRefusal && error.code === 'unauthorized') return null;
    throw error;
  }
}

function asProgram(api: ServerApi, serviceKey: string): Promise<Program> {
  return api.withKey(keyCredential(serviceKey)).get<Program>('/v1/whoami');
}

/** What was granted before the rotation was interrupted is not granted again. */
async function grantAll(
  api: ServerApi,
  { keyId, serviceKey }: Made,
  orgId: string,
  parts: readonly ContentPart[],
): Promise<void> {
  const wrapping = new ContentKey(parseBearerKey(serviceKey)?.contentPart ?? '', orgId);
  const { content_grants: there } = await asProgram(api, serviceKey);
  for (const part of parts) {
    const grant = there.find(({ from_key_id: id }) => id === part.keyId);
    if (grant !== undefined && opened(wrapping, part.keyId, grant.wrapped) === part.contentPart) continue;
    const body = {
      from_key_id: part.keyId,
      wrapped: wrapping.wrap(part.keyId, part.contentPart).toString('base64url'),
      ...(part.authSha256 !== undefined && { from_auth_sha256: part.authSha256 }),
    };
    await api.send('POST', `/api/keys/${keyId}/content-grants`, body, { idempotent: true });
  }
}
