// How many requests of one organization begin in a turn of the event loop. Without it those that arrive together are all
// begun together, and whoever sends four hundred at once has the loop for as long as they take.

import { overShare } from '@methods/errors/over-share';
import { FairQueue, type QueuedJob } from '@methods/threads/fair-queue';
import type { FastifyInstance } from 'fastify';
import { callerOf } from './caller.ts';

const BEGIN_MAX = 4;
/** Of all organizations. */
const BEGIN_ALL_MAX = 32;
const WAITING = { small: 2_000, large: 0, all: 20_000, allBytes: 0 };

interface Turn extends QueuedJob {
  readonly begin: () => void;
}

/** One for all surfaces. */
export class OrganizationTurns {
  private readonly queue = new FairQueue<Turn>(WAITING);
  private readonly begun = new Map<string, number>();
  private turning = false;

  /** Calls `begin` now or in a later turn. @throws ServiceError over its share */
  take(orgId: string, begin: () => void): void {
    if (this.mayBegin(orgId) && this.queue.length === 0) return this.begin(orgId, begin);
    const admission = this.queue.add({ orgId, isLarge: false, bytes: 0, begin });
    if (admission === 'share')
      throw overShare('requests that wait for their turn', { share: 'organization', max: WAITING.small });
    if (admission === 'full') throw overShare('requests that wait for their turn', { share: 'all', max: WAITING.all });
  }

  private mayBegin(orgId: string): boolean {
    return (this.begun.get(orgId) ?? 0) < BEGIN_MAX;
  }

  private begin(orgId: string, begin: () => void): void {
    this.begun.set(orgId, (this.begun.get(orgId) ?? 0) + 1);
    if (!this.turning) setImmediate(() => this.turn());
    this.turning = true;
    begin();
  }

  private turn(): void {
    this.turning = false;
    this.begun.clear();
    for (let n = 0; n < BEGIN_ALL_MAX; n++) {
      const next = this.queue.take((orgId) => this.mayBegin(orgId), { large: false });
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
