// Service keys on a server. A key is created here, and only the hash of its auth part is sent.
import { createServiceKey } from '@methods/auth/service-key';
import { isId } from '@methods/base/ids';
import { UsageError } from '../errors/command-error.ts';
import type { ServerParty } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { hintIfUncertain } from '../server/server-refusal.ts';

/** As the server sends it. */
export interface ServerKey {
  readonly id: string;
  readonly name: string;
  /** RFC 3339, as are all times. */
  readonly created_at: string | null;
  readonly created_by: ServerParty | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

export interface MadeKey {
  readonly key: ServerKey;
  /** No one else has it, and it cannot be read again. */
  readonly serviceKey: string;
  readonly webhookSecret: string;
}

export async function makeKey(api: ServerApi, name: string): Promise<MadeKey> {
  const { key: serviceKey, authSha256 } = createServiceKey();
  const body = { name, auth_sha256: authSha256.toString('hex') };
  // After a lost reply the key is lost with this process: another one must be created, and this one revoked.
  const hint = `try again; if  methods keys list  already shows "${name}", revoke that one: no one has it`;
  const { value } = await api
    .send<{ key: ServerKey; webhook_secret: string }>('POST', '/api/keys', body, { idempotent: true })
    .catch(hintIfUncertain(hint));
  return { key: value.key, serviceKey, webhookSecret: value.webhook_secret };
}

export async function revokeKey(api: ServerApi, id: string): Promise<ServerKey> {
  const path = `/api/keys/${checkedKeyId(id)}/revoke`;
  return (await api.send<{ key: ServerKey }>('POST', path, undefined, { idempotent: true })).value.key;
}

/** A repeat would create another one, and invalidate the previous one. */
export async function newWebhookSecret(api: ServerApi, id: string): Promise<string> {
  const path = `/api/keys/${checkedKeyId(id)}/webhook-secret`;
  const hint = 'run it again: the earlier secret may sign no more, and no one has the new one';
  return (await api.send<{ webhook_secret: string }>('POST', path).catch(hintIfUncertain(hint))).value.webhook_secret;
}

/** @throws UsageError: a key itself, given by mistake, must not be sent in a path that servers log. */
export function checkedKeyId(text: string): string {
  if (isId('key', text)) return text;
  throw new UsageError('a key is named by its id, key_ and 26 letters and digits', 'see  methods keys list');
}
