// Who the client is by the server, and whether its organization keeps the content of runs on devices: asked before the
// first start, and again at most every 30 s.
import { NotFoundError } from './errors.ts';
import type { Requests } from './requests.ts';

export interface Whoami {
  readonly org_id: string;
  /** Null for a person. */
  readonly key_id: string | null;
  readonly content_on_devices: boolean;
  /** base64url. */
  readonly content_grants: readonly { readonly from_key_id: string; readonly wrapped: string }[];
}

const FRESH_MS = 30_000;
/** What a server without device mode would say. */
const UNKNOWN: Whoami = { org_id: '', key_id: null, content_on_devices: false, content_grants: [] };

export class WhoamiReader {
  private last: { readonly facts: Promise<Whoami>; readonly readMs: number } | null = null;

  constructor(private readonly requests: Requests) {}

  /** @throws MethodsError */
  read(): Promise<Whoami> {
    const nowMs = performance.now();
    if (this.last !== null && nowMs - this.last.readMs < FRESH_MS) return this.last.facts;
    const facts = this.requests.send({ verb: 'GET', path: '/v1/whoami', is: isWhoami }).catch((error: unknown) => {
      if (error instanceof NotFoundError) return UNKNOWN;
      this.last = null;
      throw error;
    });
    this.last = { facts, readMs: nowMs };
    return facts;
  }
}

function isWhoami(value: unknown): value is Whoami {
  const { org_id: orgId, content_on_devices: onDevices, content_grants: grants } = Object(value) as Partial<Whoami>;
  return typeof orgId === 'string' && typeof onDevices === 'boolean' && Array.isArray(grants);
}
