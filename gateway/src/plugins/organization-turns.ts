// How many requests of one organization begin in a turn of the event loop. Without it those that arrive together are all
// begun together, and a client that sends four hundred at once holds the loop for as long as they take.
import type { Clock } from '@methods/base/clock';
import { overShare } from '@methods/errors/over-share';
import { FairQueue, type QueuedJob } from '@methods/threads/fair-queue';
import type { FastifyInstance } from 'fastify';
import { callerOf } from './caller.ts';

/** However long they take. */
const BEGIN_MAX = 4;
/** Of all organizations, out of the queue. */
const BEGIN_ALL_MAX = 32;
/** While a turn is this young, more begin: a turn has a price of its own, and replies that leave together cost less. */
const YOUNG_MS = 5;
const BEGIN_YOUNG_MAX = 32;
const PARTS = BEGIN_YOUNG_MAX / BEGIN_MAX;
const WAITING = { small: 2_000, large: 0, all: 20_000, allBytes: 0 };

interface Turn extends QueuedJob {
  readonly begin: () => void;
}

/** One for all surfaces. */
export class OrganizationTurns {
  private readonly queue = new FairQueue<Turn>(WAITING);
  private readonly begun = new Map<string, number>();
  private turning = false;
  private beganMs = 0;

  constructor(private readonly clock: Clock) {}

  /** Calls `begin` now or in a later turn. @throws ServiceError over its share */
  take(orgId: string, begin: () => void): void {
    if (this.queue.length === 0 && this.mayBegin(orgId)) return this.begin(orgId, begin);
    const admission = this.queue.add({ orgId, isLarge: false, bytes: 0, begin });
    if (admission === 'share')
      throw overShare('requests that wait for their turn', { share: 'organization', max: WAITING.small });
    if (admission === 'full') throw overShare('requests that wait for their turn', { share: 'all', max: WAITING.all });
  }

  private mayBegin(orgId: string): boolean {
    const begun = this.begun.get(orgId) ?? 0;
    return begun < BEGIN_MAX || (begun < BEGIN_YOUNG_MAX && this.isYoung());
  }

  private isYoung(): boolean {
    return this.clock.monotonicMs() - this.beganMs < YOUNG_MS;
  }

  private begin(orgId: string, begin: () => void): void {
    if (!this.turning) {
      this.turning = true;
      this.beganMs = this.clock.monotonicMs();
      setImmediate(() => this.turn());
    }
    this.begun.set(orgId, (this.begun.get(orgId) ?? 0) + 1);
    begin();
  }

  private turn(): void {
    this.turning = false;
    this.begun.clear();
    this.part(BEGIN_MAX);
    if (this.queue.length === 0) return;
    // What begins has its work done between two immediates, so each part sees how long the parts before it took.
    for (let part = 2; part <= PARTS; part++) {
      setImmediate(() => {
        if (this.isYoung()) this.part(part * BEGIN_MAX);
      });
    }
  }

  private part(beginMax: number): void {
    for (let n = 0; n < BEGIN_ALL_MAX; n++) {
      const next = this.queue.take((orgId) => (this.begun.get(orgId) ?? 0) < beginMax, { large: false });
      if (next === null) return;
      this.begin(next.orgId, next.begin);
    }
  }
}

/** Routes of `scope`, which has callers. */
export function addOrganizationTurns(scope: FastifyInstance, turns: OrganizationTurns): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    try {
      turns.take(callerOf(request).orgId, done);
    } catch (error) {
      done(error as Error);
    }
  });
}
