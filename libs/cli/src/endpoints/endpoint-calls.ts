// Endpoints and deliveries on a server, as it sends them.
import { isId } from '@methods/base/ids';
import { UsageError } from '../errors/command-error.ts';
import type { ServerParty } from '../server/method-calls.ts';

export interface ServerEndpoint {
  readonly id: string;
  readonly name: string;
  readonly format: string;
  /** Shortened. */
  readonly url: string;
  readonly events: readonly string[];
  readonly paused: boolean;
  /** RFC 3339, as are all times. */
  readonly created_at: string | null;
  readonly created_by: ServerParty | null;
  readonly earlier_secret_until: string | null;
}

export interface OneEndpoint {
  readonly endpoint: ServerEndpoint;
  /** For a new or rotated one; a chat has none. */
  readonly webhook_secret?: string;
}

export interface ServerDelivery {
  readonly id: string;
  readonly run_id: string;
  readonly event: string;
  readonly kind: string;
  readonly endpoint_id?: string;
  readonly url?: string;
  readonly status: string;
  readonly created_at: string | null;
  readonly next_try_at: string | null;
  readonly tries_count: number;
  /** Newest last. */
  readonly tries: readonly { readonly status: number | null; readonly error: string | null }[];
}

export interface Resent {
  readonly ids: readonly string[];
  readonly next_cursor: string | null;
}

/** @throws UsageError: a secret, given by mistake, must not be sent in a path that servers log. */
export function endpointPath(text: string): string {
  if (isId('ep', text)) return `/api/endpoints/${text}`;
  throw new UsageError('an endpoint is named by its id, ep_ and 26 letters and digits', 'see  methods endpoints list');
}
