// Records when each key was last used: kept in memory and reported to the registry once a minute, since people need no
// finer time and a write for each request costs too much.

import type { Clock, Timer } from '@methods/base/clock';
import type { KeyId, OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';

export interface KeyUse {
  readonly orgId: OrgId;
  readonly keyId: KeyId;
  /** Wall time in ms. */
  readonly usedAtMs: number;
}

export interface KeyUsesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stores at most `KEY_USES_MAX_A_CALL`. A repeat is harmless: the latest use counts. */
  readonly note: (uses: readonly KeyUse[]) => Promise<void>;
}

export const KEY_USES_MAX_A_CALL = 1_000;
const EVERY_MS = 60_000;
const KEYS_MAX = 20_000;

export class KeyUses implements Stoppable {
  private readonly uses = new Map<KeyId, { orgId: OrgId; usedAtMs: number }>();
  private timer: Timer | null = null;

  constructor(private readonly options: KeyUsesOptions) {}

  start(): void {
    this.timer = this.options.clock.after(EVERY_MS, () => {
      void this.tell().finally(() => {
        if (this.timer !== null) this.start();
      });
    });
  }

  /** When the process stops, reports the rest if the registry accepts it. */
  async stop(): Promise<void> {
    this.timer?.cancel();
    this.timer = null;
    await this.tell();
  }

  used(orgId: OrgId, keyId: KeyId): void {
    const usedAtMs = this.options.clock.wallMs();
    const use = this.uses.get(keyId);
    if (use) use.usedAtMs = usedAtMs;
    // Beyond the bound a key waits for the next minute.
    else if (this.uses.size < KEYS_MAX) this.uses.set(keyId, { orgId, usedAtMs });
  }

  /** Reports all uses so far. Uses that the registry refuses now are reported a minute later. */
  async tell(): Promise<void> {
    const all = [...this.uses].map(([keyId, use]) => ({ keyId, ...use }));
    for (let at = 0; at < all.length; at += KEY_USES_MAX_A_CALL) {
      const some = all.slice(at, at + KEY_USES_MAX_A_CALL);
      try {
        await this.options.note(some);
      } catch (error) {
        this.options.logger.warn({ error, keys: all.length - at }, 'uses of keys could not be noted yet');
        return;
      }
      for (const { keyId, usedAtMs } of some) {
        if (this.uses.get(keyId)?.usedAtMs === usedAtMs) this.uses.delete(keyId);
      }
    }
  }
}
