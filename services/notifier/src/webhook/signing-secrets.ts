// The secrets that sign webhooks, asked of the method registry and kept for half a minute: a new one signs that soon.
import type { Clock } from '@methods/base/clock';

/** Rejects with a ServiceError; `not_found` when the registry knows no such key. */
export type SecretSource = (orgId: string, keyId: string) => Promise<string>;

interface Entry {
  readonly secret: Promise<string>;
  readonly freshUntilMs: number;
}

const FRESH_MS = 30_000;
const ENTRIES_MAX = 1_000;

export class SigningSecrets {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly source: SecretSource,
    private readonly clock: Clock,
  ) {}

  /** One request for many deliveries of one key; a failure is not kept. */
  get(orgId: string, keyId: string): Promise<string> {
    const name = `${orgId}/${keyId}`;
    const known = this.entries.get(name);
    const nowMs = this.clock.monotonicMs();
    if (known !== undefined && known.freshUntilMs > nowMs) return known.secret;
    const entry: Entry = { secret: this.source(orgId, keyId), freshUntilMs: nowMs + FRESH_MS };
    entry.secret.catch(() => {
      if (this.entries.get(name) === entry) this.entries.delete(name);
    });
    this.entries.delete(name);
    this.entries.set(name, entry);
    this.dropOldest();
    return entry.secret;
  }

  private dropOldest(): void {
    if (this.entries.size <= ENTRIES_MAX) return;
    const oldest = this.entries.keys().next().value;
    if (oldest !== undefined) this.entries.delete(oldest);
  }
}
