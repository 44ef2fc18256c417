// Another organization of the bench's stack.
import { createServiceKey } from '@methods/auth/service-key';
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import { Pool } from 'undici';
import type { BenchStack } from './bench-stack.ts';

export interface Tenant {
  readonly key: string;
  /** Of one step. */
  readonly method: string;
}

/** An organization with a key and a published method. */
export async function tenantOf(stack: BenchStack, name: string): Promise<Tenant> {
  const who = { email: `admin@${name}.example`, organization: name, role: 'admin', audience: 'machine' } as const;
  const token = await fetchToken(chooseStack(stack.dataDir), who);
  const http = new Pool(stack.baseUrl, { connections: 1 });
  const post = async <T>(path: string, body: object): Promise<T> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const reply = await http.request({ method: 'POST', path, headers, body: JSON.stringify(body) });
    const text = await reply.body.text();
    if (reply.statusCode >= 300) throw new Error(`${reply.statusCode} ${text.slice(0, 200)}`);
    return JSON.parse(text || '{}') as T;
  };
  const source =
    'format: method/2\nname: one-step\ninputs: { n: integer }\nsteps:\n  - name: add\n    node: |\n      return { sum: 2 };\n    out: { sum: integer }\nresult: { sum: =steps.add.sum }\n';
  const { method } = await post<{ method: { id: string; production_id: string; current_version: string } }>(
    '/api/methods',
    { idempotency_key: `${name}-method`, source },
  );
  await post(`/api/methods/${method.id}/publish`, { version_id: method.current_version });
  const { key, authSha256 } = createServiceKey();
  await post('/api/keys', { name: 'bench', auth_sha256: authSha256.toString('hex') });
  await http.close();
  return { key, method: method.production_id };
}
