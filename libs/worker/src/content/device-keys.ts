// The content keys of this worker: that of its own service key, and those that were granted to it. A hello names them,
// so that the worker is offered the runs that it can open.
import { ContentKey } from '@methods/content/device/content-key';
import type { Logger } from '@methods/logging/logger';

/** The own key and as many as can be granted to it; the server accepts this many in a hello. */
const KEYS_MAX = 21;
const DAMAGED_GRANT = 'the content part of another key that was granted to this one does not open';

/** What a worker learns about its key, from the server's welcome or from `GET /v1/whoami`. */
export interface KeyFacts {
  readonly orgId: string;
  /** Empty: the worker is signed in as a person, who has no content key. */
  readonly keyId: string;
  readonly contentGrants: readonly { readonly fromKeyId: string; readonly wrapped: Uint8Array }[];
}

export class DeviceKeys {
  /** By the id of the service key; the own one first. */
  private readonly keys = new Map<string, ContentKey>();
  /** The ids of keys whose grants do not open: they hinder no run but those of their key. */
  private readonly damaged = new Set<string>();

  /** Absent: only the auth part of the key is known here. */
  constructor(private readonly contentPart: string | undefined) {}

  /**
   * Returns whether there are keys that the last hello did not name. @param logger warned once of each key whose grant
   * does not open
   */
  learn({ orgId, keyId, contentGrants }: KeyFacts, logger: Pick<Logger, 'warn'>): boolean {
    if (this.contentPart === undefined || orgId === '' || keyId === '') return false;
    const before = this.keys.size;
    const own = this.keys.get(keyId) ?? new ContentKey(this.contentPart, orgId);
    this.keys.set(keyId, own);
    for (const { fromKeyId, wrapped } of contentGrants) {
      if (this.keys.has(fromKeyId) || this.keys.size >= KEYS_MAX) continue;
      const contentPart = unwrapped(own, fromKeyId, wrapped);
      if (contentPart !== null) this.keys.set(fromKeyId, new ContentKey(contentPart, orgId));
      else if (!this.damaged.has(fromKeyId)) {
        this.damaged.add(fromKeyId);
        logger.warn({ key: fromKeyId, code: 'content_grant_damaged' }, DAMAGED_GRANT);
      }
    }
    return this.keys.size > before;
  }

  get(keyId: string): ContentKey | undefined {
    return this.keys.get(keyId);
  }

  /** The key that a sealed value or file shows. */
  with(fingerprint: Uint8Array): ContentKey | undefined {
    return [...this.keys.values()].find((key) => key.fingerprint.equals(fingerprint));
  }

  /** The fields of a hello. */
  get named() {
    return {
      deviceKeyIds: [...this.keys.keys()],
      deviceKeyFingerprints: [...this.keys.values()].map(({ fingerprint }) => fingerprint),
    };
  }
}

/** Null: it was changed, or wrapped for another key. */
function unwrapped(own: ContentKey, fromKeyId: string, wrapped: Uint8Array): string | null {
  try {
    return own.unwrap(fromKeyId, wrapped);
  } catch {
    return null;
  }
}
