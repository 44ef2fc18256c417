// Runs due builds, a few at a time, each in a separate process and in one of the places of this process. Organizations
// take turns.
import { type Clock, systemClock, type Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import type { RegistryChanges } from '../bus/registry-changes.ts';
import type { BuildStore, ClaimedBuild } from '../store/build-store.ts';
import { BUILD_TRIES_MAX, type ClaimTerms } from '../store/claim-build.ts';
import { type BuildParts, type Built, buildRecording, NO_RESULT } from './build-recording.ts';

/** Renewed while the build runs, however slowly its recording is read: an expired lease means that its process died. */
const LEASE_MS = 60_000;
const RENEWALS_A_LEASE = 3;
/**
 * This process starts its own builds at once. The poll finds those of a dead registry, whose lease lasts another minute
 * anyway.
 */
const POLL_MS = 10_000;

export interface BuildsOptions extends BuildParts {
  readonly store: BuildStore;
  readonly logger: Logger;
  readonly changes: Pick<RegistryChanges, 'buildEnded'>;
  readonly clock?: Clock;
  readonly leaseMs?: number;
}

export class Builds implements Stoppable {
  private readonly stopping = new AbortController();
  private readonly places = new BuildPlaces();
  private readonly underWay = new Set<Promise<void>>();
  private claiming: Promise<void> | null = null;
  /** A build became due, or a place free, during the last claim. */
  private woken = false;
  private poll: Timer | null = null;

  constructor(private readonly options: BuildsOptions) {}

  start(): void {
    this.wake();
  }

  /** Looks for due builds now. Called after a build was queued. */
  wake(): void {
    this.woken = true;
    if (this.claiming !== null || this.stopping.signal.aborted) return;
    this.poll?.cancel();
    this.claiming = this.claim().finally(() => {
      this.claiming = null;
      if (this.stopping.signal.aborted) return;
      if (this.woken) this.wake();
      else this.poll = (this.options.clock ?? systemClock).after(POLL_MS, () => this.wake());
    });
  }

  /** Gives builds in progress back: another registry, or the next one here, begins them again. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the registry stops'));
    this.poll?.cancel();
    await this.claiming;
    await Promise.all(this.underWay);
  }

  /** Begins builds while there are both due builds and free places. */
  private async claim(): Promise<void> {
    const { store, logger, leaseMs = LEASE_MS } = this.options;
    try {
      while (!this.stopping.signal.aborted) {
        this.woken = false;
        if (this.places.isFull) return;
        const build = await store.claim(this.places.terms(leaseMs));
        if (build === null) return;
        this.begin(build);
      }
    } catch (error) {
      logger.warn({ error }, 'builds wait for the database');
    }
  }

  private begin(claimed: ClaimedBuild): void {
    this.places.take(claimed);
    const building = this.build(claimed)
      .catch((error) => this.options.logger.warn({ error }, 'the end of a build waits for the database'))
      .finally(() => {
        this.places.leave(claimed);
        this.underWay.delete(building);
        this.wake();
      });
    this.underWay.add(building);
  }

  private async build(build: ClaimedBuild): Promise<void> {
    const { store, logger } = this.options;
    const fields = { org_id: build.orgId, method_id: build.methodId };
    if (build.triesBefore >= BUILD_TRIES_MAX) {
      await store.fail(build, NO_RESULT);
      this.options.changes.buildEnded(build);
      logger.error(fields, 'build gave up');
      return;
    }
    let built: Built;
    const lease = this.keepLease(build);
    try {
      built = await buildRecording(build, this.options, this.stopping.signal);
    } catch (error) {
      if (this.stopping.signal.aborted) return await store.release(build);
      // The lease expires, and the build begins again; it fails after a few such tries.
      logger.warn({ ...fields, error }, 'build will be tried again');
      return;
    } finally {
      lease.cancel();
    }
    const ended =
      built.kind === 'draft'
        ? await store.succeed(build, built.draft, built.reason)
        : await store.fail(build, built.error);
    if (ended) this.options.changes.buildEnded(build);
    logger.info({ ...fields, outcome: ended ? built.kind : 'overtaken' }, 'build ended');
  }

  /** Renews the lease until it is cancelled. The next renewal makes up for one that fails. */
  private keepLease(build: ClaimedBuild): Timer {
    const { store, clock = systemClock, leaseMs = LEASE_MS, logger } = this.options;
    let kept = true;
    let timer: Timer;
    const renew = async () => {
      try {
        await store.renew(build, leaseMs);
      } catch (error) {
        logger.warn({ org_id: build.orgId, method_id: build.methodId, error }, 'lease of a build was not renewed');
      }
      if (kept) later();
    };
    const later = () => {
      timer = clock.after(leaseMs / RENEWALS_A_LEASE, () => void renew());
    };
    later();
    return {
      cancel() {
        kept = false;
        timer.cancel();
      },
    };
  }
}

/**
 * The places of this process for builds: how many run at a time, of all organizations and of each. The last one is for
 * small recordings, and an organization never has all of them, so that a newcomer finds a place.
 */
interface BuildPlace {
  readonly orgId: OrgId;
  readonly isLarge: boolean;
}

const PLACES = 3;
const LARGE_PLACES = PLACES - 1;
const PLACES_OF_ONE = PLACES - 1;
const LARGE_PLACES_OF_ONE = 1;

class BuildPlaces {
  private readonly taken = new Set<BuildPlace>();

  get isFull(): boolean {
    return this.taken.size >= PLACES;
  }

  take(place: BuildPlace): void {
    this.taken.add(place);
  }

  leave(place: BuildPlace): void {
    this.taken.delete(place);
  }

  /** Returns the free places. */
  terms(leaseMs: number): ClaimTerms {
    const all = new Map<string, number>();
    const large = new Map<string, number>();
    for (const { orgId, isLarge } of this.taken) {
      all.set(orgId, (all.get(orgId) ?? 0) + 1);
      if (isLarge) large.set(orgId, (large.get(orgId) ?? 0) + 1);
    }
    const largeTaken = [...large.values()].reduce((sum, n) => sum + n, 0);
    const atShare = (counts: Map<string, number>, share: number) =>
      [...counts].filter(([, count]) => count >= share).map(([orgId]) => orgId);
    return {
      leaseMs,
      takeLarge: largeTaken < LARGE_PLACES,
      noneOf: atShare(all, PLACES_OF_ONE),
      noLargeOf: atShare(large, LARGE_PLACES_OF_ONE),
    };
  }
}
