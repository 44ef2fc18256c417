// Bounds how many requests of one organization begin in a turn of the event loop, and how long it rests afterwards.
// Otherwise requests that arrive together would all begin together, and a client that sends four hundred at once would
// block the loop for as long as they take.
import type { Clock, Timer } from '@methods/base/clock';
import { overShare } from '@methods/errors/service-error';
import { FairQueue, type QueuedJob } from '@methods/threads/fair-queue';
import type { FastifyInstance } from 'fastify';
import { RecentOrganizations } from '../turns/long-work.ts';
import { callerOf } from './caller.ts';

/** Regardless of their duration. */
const BEGIN_MAX = 4;
/** Across all organizations, outside the queue. */
const BEGIN_ALL_MAX = 32;
/** While a turn is this young, more work begins in it: each turn has a cost, and replies sent together cost less. */
const YOUNG_MS = 5;
const BEGIN_YOUNG_MAX = 32;
const PARTS = BEGIN_YOUNG_MAX / BEGIN_MAX;
/**
 * While others also ask, an organization that begins its four in a turn rests for this many times as long as its part
 * of the turn took: the later work of a request costs the same again, here and in the services behind.
 */
const REST = 2;
const REST_MS_MAX = 100;
const WAITING = { small: 2_000, large: 0, all: 20_000, allBytes: 0 };

interface Turn extends QueuedJob {
  readonly begin: () => void;
}

/** One for all surfaces. */
export class OrganizationTurns {
  private readonly queue = new FairQueue<Turn>(WAITING);
  private readonly begun = new Map<string, number>();
  /** The end of each rest. */
  private readonly rests = new Map<string, number>();
  private waking: Timer | null = null;
  private turning = false;
  private beganMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly recent = new RecentOrganizations(clock),
  ) {}

  /** Calls `begin` now or in a later turn. @throws ServiceError over its share */
  take(orgId: string, begin: () => void): void {
    this.recent.saw(orgId);
    if (!this.queue.hasWaiting(orgId) && this.mayBegin(orgId)) return this.begin(orgId, begin);
    const admission = this.queue.add({ orgId, isLarge: false, bytes: 0, begin });
    if (admission === 'share')
      throw overShare('requests that wait for their turn', { share: 'organization', max: WAITING.small });
    if (admission === 'full') throw overShare('requests that wait for their turn', { share: 'all', max: WAITING.all });
  }

  private mayBegin(orgId: string): boolean {
    if (this.rests.has(orgId)) return false;
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
    this.rest();
    this.begun.clear();
    this.wake();
    if (this.queue.length === 0 || !this.turning) return;
    // A request's work is done between two immediates, so each part measures how long the parts before it took.
    for (let part = 2; part <= PARTS; part++) {
      setImmediate(() => {
        if (this.isYoung()) this.part(part * BEGIN_MAX);
      });
    }
  }

  private rest(): void {
    const nowMs = this.clock.monotonicMs();
    const tookMs = nowMs - this.beganMs;
    let all = 0;
    for (const begun of this.begun.values()) all += begun;
    for (const [orgId, begun] of this.begun) {
      const restMs = Math.min((REST * tookMs * begun) / all, REST_MS_MAX);
      if (begun >= BEGIN_MAX && restMs > 0 && this.recent.sawOthersThan(orgId)) this.rests.set(orgId, nowMs + restMs);
    }
  }

  /** Begins the requests that may begin now, and runs again when the first rest is over. */
  private wake(): void {
    this.waking?.cancel();
    this.waking = null;
    const nowMs = this.clock.monotonicMs();
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const [orgId, untilMs] of this.rests) {
      if (untilMs <= nowMs) this.rests.delete(orgId);
      else soonestMs = Math.min(soonestMs, untilMs);
    }
    this.part(BEGIN_MAX);
    if (this.rests.size > 0) this.waking = this.clock.after(Math.ceil(soonestMs - nowMs), () => this.wake());
  }

  private part(beginMax: number): void {
    for (let n = 0; n < BEGIN_ALL_MAX; n++) {
      const next = this.queue.take((orgId) => !this.rests.has(orgId) && (this.begun.get(orgId) ?? 0) < beginMax, {
        large: false,
      });
      if (next === null) return;
      this.begin(next.orgId, next.begin);
    }
  }
}

/** For the routes of `scope`, which has callers. */
export function addOrganizationTurns(scope: FastifyInstance, turns: OrganizationTurns): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    try {
      turns.take(callerOf(request).orgId, done);
    } catch (error) {
      done(error as Error);
    }
  });
}
