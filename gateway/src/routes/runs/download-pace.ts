// Limits how fast all readers of an organization together read the files of runs. Each byte passes through the
// database, a node and this process, and is unpacked for a single file, so an endless reader must leave processor time
// to others.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';

const BYTES_PER_SECOND = 64 << 20;
/** Shorter waits are added to the next one. */
const WAIT_MS_MIN = 20;
/** Organizations that read nothing now are removed beyond this number. */
const KNOWN_MAX = 1_000;

export class DownloadPace {
  /** When each organization's reads so far are paid for at its pace. */
  private readonly overAtMs = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Counts bytes that were read. Null: the next ones may be read at once. */
  took(orgId: OrgId, bytes: number): Promise<void> | null {
    const nowMs = this.clock.monotonicMs();
    if (this.overAtMs.size >= KNOWN_MAX) this.forget(nowMs);
    const overAtMs = Math.max(nowMs, this.overAtMs.get(orgId) ?? 0) + (bytes * 1_000) / BYTES_PER_SECOND;
    this.overAtMs.set(orgId, overAtMs);
    const waitMs = overAtMs - nowMs;
    return waitMs < WAIT_MS_MIN ? null : new Promise((goOn) => void this.clock.after(waitMs, goOn));
  }

  async *paced(orgId: OrgId, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of parts) {
      await this.took(orgId, part.length);
      yield part;
    }
  }

  private forget(nowMs: number): void {
    for (const [orgId, overAtMs] of this.overAtMs) if (overAtMs <= nowMs) this.overAtMs.delete(orgId);
  }
}
