// Caches which events the endpoints of organizations take, as the method registry reports: an event of a run without a
// webhook is kept only for them. Unknown events are taken, since an event that is not kept is lost.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { LRUCache } from 'lru-cache';

interface Known {
  readonly events: ReadonlySet<string>;
  /** Monotonic. */
  readonly askedMs: number;
}

/** A new endpoint gets events after 30 s at the latest, even if its creation was not announced. */
const GOOD_MS = 25_000;
/** Answers older than this are refreshed, so that a busy organization is always known. */
const AGING_MS = 15_000;
/** The pause after a request that failed. */
const AGAIN_MS = 1_000;
const KNOWN_MAX = 10_000;
/** Requests at one time; other organizations are asked about at their next event. */
const ASKED_MAX = 16;

export class EndpointEvents {
  private readonly known = new LRUCache<OrgId, Known>({ max: KNOWN_MAX });
  private readonly asking = new Set<OrgId>();
  private readonly failed = new LRUCache<OrgId, number>({ max: KNOWN_MAX });
  private changes = 0;

  constructor(
    private readonly options: {
      /** Rejects when the registry is unavailable. */
      readonly ask: (orgId: OrgId) => Promise<readonly string[]>;
      readonly clock: Clock;
    },
  ) {}

  /** Reports whether an endpoint of the organization takes such events, as far as known. */
  takes(orgId: OrgId, event: string): boolean {
    const nowMs = this.options.clock.monotonicMs();
    const known = this.known.get(orgId);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs - known.askedMs;
    if (ageMs > AGING_MS) this.ask(orgId, nowMs);
    return known === undefined || ageMs > GOOD_MS || known.events.has(event);
  }

  /** Invalidates the earlier answers of the organization. */
  changed(orgId: OrgId): void {
    this.changes++;
    this.known.delete(orgId);
  }

  /** Changes may have been missed. */
  missed(): void {
    this.changes++;
    this.known.clear();
  }

  private ask(orgId: OrgId, nowMs: number): void {
    if (this.asking.size >= ASKED_MAX || this.asking.has(orgId)) return;
    if (nowMs - (this.failed.get(orgId) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return;
    this.asking.add(orgId);
    const { changes } = this;
    this.options
      .ask(orgId)
      .then((events) => {
        // The answer may lack a change that was announced while the request was in flight.
        if (changes === this.changes) this.known.set(orgId, { events: new Set(events), askedMs: nowMs });
      })
      .catch(() => this.failed.set(orgId, nowMs))
      .finally(() => this.asking.delete(orgId));
  }
}
