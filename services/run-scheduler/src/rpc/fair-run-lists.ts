// Pages of runs by turns: one at a time of an organization, and after each a rest, so that whoever asks for lists without
// end has a share of the database and no more. A page may look at thousands of rows to find none.
import type { Clock } from '@methods/base/clock';
import { overShare } from '@methods/errors/over-share';
import type { RunLists, RunPage, RunSelection } from '../store/run-lists.ts';

/** Times as long as the page took. */
const REST = 3;
const REST_MS_MAX = 1_000;
const WAITING_MAX = 64;
/** Whoever asked has given up by then. */
const WAIT_MS_MAX = 5_000;

export class FairRunLists {
  /** Organizations with a page under way, or that rest, and what waits for it to be over. */
  private readonly busy = new Map<string, (() => void)[]>();

  constructor(
    private readonly lists: Pick<RunLists, 'page'>,
    private readonly clock: Clock,
  ) {}

  /** @throws rate_limited over the organization's share, and as `RunLists` */
  async page(selection: RunSelection): Promise<RunPage> {
    const { orgId } = selection;
    if (!(await this.turn(orgId))) throw overShare('lists', { share: 'organization', max: WAITING_MAX });
    const beganMs = this.clock.monotonicMs();
    try {
      return await this.lists.page(selection);
    } finally {
      const restMs = Math.min(REST * (this.clock.monotonicMs() - beganMs), REST_MS_MAX);
      this.clock.after(restMs, () => this.next(orgId));
    }
  }

  /** False: it has waited for too long, or too many wait. */
  private async turn(orgId: string): Promise<boolean> {
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

  private next(orgId: string): void {
    const go = this.busy.get(orgId)?.shift();
    if (go === undefined) this.busy.delete(orgId);
    else go();
  }
}
