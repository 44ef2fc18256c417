// Saves and publishes made-up methods, and creates keys, through the HTTP API, as a person would.
import { randomBytes } from 'node:crypto';
import { createServiceKey } from '@methods/auth/service-key';
import type { KeyId, ProductionId, VersionId } from '@methods/base/ids';
import { HOSTILE_TEXTS } from './hostile-texts.ts';

export interface SeededMethod {
  /** wf_… */
  readonly method: ProductionId;
  readonly versionId: VersionId;
}

const VERBS = ['approve', 'import', 'send', 'check', 'match', 'close', 'archive', 'price', 'notify', 'renew'];
const NOUNS = [
  ...['refund', 'order', 'invoice', 'shipment', 'ticket', 'contract', 'customer', 'payment', 'report', 'claim'],
  ...['return', 'quote', 'budget', 'candidate', 'lease', 'stock', 'meeting', 'review', 'license', 'campaign'],
];
const KEYS = ['shop-prod', 'crm', 'billing', 'nightly jobs', HOSTILE_TEXTS[0] ?? ''];
const AT_ONCE = 4;

/** Names repeat from the 201st on; the ids differ. */
function methodName(n: number): string {
  return `${VERBS[n % VERBS.length]}-${NOUNS[Math.floor(n / VERBS.length) % NOUNS.length]}`;
}

function methodSource(n: number): string {
  const name = methodName(n);
  return `format: method/2
name: ${name}
title: ${name.replace('-', ' a ')}
inputs:
  order: text
steps:
  - name: fetch
    node: |
      return { found: order };
    in: { order: =inputs.order }
    out: { found: text }
  - name: approval
    ask: Continue with this ${name.split('-')[1]}?
    out: { approve: boolean }
  - name: apply
    node: |
      return { done: found };
    in: { found: =steps.fetch.found }
    out: { done: text }
result:
  done: =steps.apply.done
`;
}

export class SeedApi {
  constructor(
    private readonly baseUrl: string,
    private readonly token: () => Promise<string>,
  ) {}

  /** A repeated seed gets the methods of the first one. */
  async methods(count: number): Promise<SeededMethod[]> {
    const made: SeededMethod[] = [];
    const numbers = Array.from({ length: count }, (_, n) => n);
    const work = async () => {
      for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) made[n] = await this.method(n);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return made;
  }

  /** Who the token is of. */
  async whoami(): Promise<{ personId: string; name: string; email: string }> {
    const { user } = await this.call<{ user: { id: string; name: string; email: string } }>('GET', '/api/whoami');
    return { personId: user.id, name: user.name, email: user.email };
  }

  async keys(): Promise<KeyId[]> {
    const ids: KeyId[] = [];
    for (const name of KEYS) {
      const body = { name, auth_sha256: createServiceKey().authSha256.toString('hex') };
      ids.push((await this.post<{ key: { id: KeyId } }>('/api/keys', body)).key.id);
    }
    return ids;
  }

  private async method(n: number): Promise<SeededMethod> {
    const hostile = n % 10 === 9 ? HOSTILE_TEXTS[Math.floor(n / 10) % HOSTILE_TEXTS.length] : undefined;
    const display = hostile?.replaceAll(/\p{Cc}/gu, ' ').slice(0, 200);
    const asked = {
      idempotency_key: `seeded-method-${n}`,
      source: methodSource(n),
      ...(display !== undefined && { display_name: display }),
    };
    const { method } = await this.post<{
      method: { id: string; production_id: ProductionId; current_version: VersionId; published_version: string | null };
    }>('/api/methods', asked);
    const { id, production_id: production, current_version: versionId } = method;
    await this.post(`/api/methods/${id}/publish`, { version_id: versionId });
    return { method: production, versionId };
  }

  private post<Reply>(path: string, body: object): Promise<Reply> {
    return this.call('POST', path, body);
  }

  private async call<Reply>(verb: string, path: string, body?: object): Promise<Reply> {
    const response = await fetch(this.baseUrl + path, {
      method: verb,
      headers: {
        authorization: `Bearer ${await this.token()}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        'x-request-id': `seed-${randomBytes(6).toString('hex')}`,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Reply;
  }
}
