// Runs costly requests in turns: an organization has one in progress at a time, and a rest after each. An organization
// that sends them endlessly gets only its share of the node and its database.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { overShare } from '@methods/errors/service-error';

/** The rest after a request, as a multiple of its time. */
const REST = 3;
const REST_MS_MAX = 1_000;
const WAITING_MAX = 64;
/** The caller has given up by then. */
const WAIT_MS_MAX = 5_000;

export class RestedTurns {
  /** Organizations with a request in progress or a rest, and their waiting requests. */
  private readonly busy = new Map<string, (() => void)[]>();

  /** @param what names the requests in the refusal. */
  constructor(
    private readonly what: string,
    private readonly clock: Clock,
  ) {}

  /** @throws rate_limited over the organization's share, and what `work` throws */
  async run<T>(orgId: OrgId, work: () => Promise<T>): Promise<T> {
    if (!(await this.turn(orgId))) throw overShare(this.what, { share: 'organization', max: WAITING_MAX });
    const beganMs = this.clock.monotonicMs();
    try {
      return await work();
    } finally {
      const restMs = Math.min(REST * (this.clock.monotonicMs() - beganMs), REST_MS_MAX);
      this.clock.after(restMs, () => this.next(orgId));
    }
  }

  /** Returns false if the request waited for too long, or too many wait. */
  private async turn(orgId: OrgId): Promise<boolean> {
    const waiting = this.busy.get(orgId);
    if (waiting === undefined) {
      this.busy.set(orgId, []);
      return true;
    }
    if (waiting.length >= WAITING_MAX) return false;
    const beganMs = this.clock.monotonicMs();
    await new Promise<void>((go) => void waiting.push(go));
    if (this.clock.monotonicMs() - beganMs <= WAIT_MS_MAX) return true;
    this.next(orgId);
    return false;
  }

  private next(orgId: OrgId): void {
    const go = this.busy.get(orgId)?.shift();
    if (go === undefined) this.busy.delete(orgId);
    else go();
  }
}
