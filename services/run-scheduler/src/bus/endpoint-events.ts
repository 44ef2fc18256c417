// Which events the endpoints of organizations take, as the method registry says: an event of a run that has no webhook is
// kept only for them. What is not known is taken, since an event that was not kept is lost.
import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { LRUCache } from 'lru-cache';

interface Known {
  readonly events: ReadonlySet<string>;
  /** Monotonic. */
  readonly askedMs: number;
}

/** An endpoint gets events 30 s after it was made at the latest, even if no change was announced. */
const GOOD_MS = 25_000;
/** Asked again ahead of that, so that a busy organization is always known. */
const AGING_MS = 15_000;
/** After an answer that did not come. */
const AGAIN_MS = 1_000;
const KNOWN_MAX = 10_000;
/** Asked at once; the others are asked by their next event. */
const ASKED_MAX = 16;

export class EndpointEvents {
  private readonly known = new LRUCache<OrgId, Known>({ max: KNOWN_MAX });
  private readonly asking = new Set<OrgId>();
  private readonly failed = new LRUCache<OrgId, number>({ max: KNOWN_MAX });
  private changes = 0;

  constructor(
    private readonly options: {
      /** Rejects when the registry cannot be asked. */
      readonly ask: (orgId: OrgId) => Promise<readonly string[]>;
      readonly clock: Clock;
    },
  ) {}

  /** Whether an endpoint of the organization takes such events, as far as known. */
  takes(orgId: OrgId, event: string): boolean {
    const nowMs = this.options.clock.monotonicMs();
    const known = this.known.get(orgId);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : nowMs - known.askedMs;
    if (ageMs > AGING_MS) this.ask(orgId, nowMs);
    return known === undefined || ageMs > GOOD_MS || known.events.has(event);
  }

  /** Earlier answers are no longer valid. */
  changed(orgId: OrgId): void {
    this.changes++;
    this.known.delete(orgId);
  }

  /** Changes may not have been announced. */
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
        // A change announced while this was under way may not be in its answer.
        if (changes === this.changes) this.known.set(orgId, { events: new Set(events), askedMs: nowMs });
      })
      .catch(() => this.failed.set(orgId, nowMs))
      .finally(() => this.asking.delete(orgId));
  }
}
