// How many days organizations keep what is finished, as the method registry reports. An answer is valid for five
// minutes and never longer: a deletion needs the current setting, so an unavailable registry stops deleting.

import type { Clock } from './clock.ts';
import type { OrgId } from './ids.ts';

const GOOD_MS = 300_000;
const KNOWN_MAX = 10_000;
/** Requests in flight at a time. */
const ASKED_MAX = 8;
const DAYS_MAX = 3_650;

interface Known {
  /** Null: nothing of this organization may be deleted. */
  readonly days: number | null;
  readonly goodUntilMs: number;
}

export class RetentionDays {
  private readonly known = new Map<OrgId, Known>();
  private changes = 0;

  constructor(
    private readonly options: {
      /** Returns null for an organization that the registry does not have; rejects when it is unavailable. */
      readonly ask: (orgId: OrgId) => Promise<number | null>;
      readonly clock: Clock;
    },
  ) {}

  /**
   * Returns the days, 1 to 3650, by organization. One that the registry does not know is missing, and keeps everything.
   * Rejects when a single one could not be requested.
   */
  async of(orgIds: Iterable<OrgId>): Promise<ReadonlyMap<OrgId, number>> {
    const found = new Map<OrgId, number>();
    const nowMs = this.options.clock.monotonicMs();
    const unknown: OrgId[] = [];
    for (const orgId of new Set(orgIds)) {
      const known = this.known.get(orgId);
      if (known === undefined || known.goodUntilMs <= nowMs) unknown.push(orgId);
      else if (known.days !== null) found.set(orgId, known.days);
    }
    for (let i = 0; i < unknown.length; i += ASKED_MAX) {
      const asked = unknown.slice(i, i + ASKED_MAX);
      const answers = await Promise.all(asked.map((orgId) => this.ask(orgId)));
      for (const [j, orgId] of asked.entries()) {
        const days = answers[j] ?? null;
        if (days !== null) found.set(orgId, days);
      }
    }
    return found;
  }

  /** Earlier answers are no longer valid. */
  changed(orgId: OrgId): void {
    this.changes++;
    this.known.delete(orgId);
  }

  private async ask(orgId: OrgId): Promise<number | null> {
    const { changes } = this;
    const answer = await this.options.ask(orgId);
    // An empty message reads as 0 days, which must not delete everything.
    const days = answer !== null && Number.isInteger(answer) && answer >= 1 && answer <= DAYS_MAX ? answer : null;
    // The answer may lack a change that was announced during this request.
    if (changes !== this.changes) return null;
    this.known.delete(orgId);
    this.known.set(orgId, { days, goodUntilMs: this.options.clock.monotonicMs() + GOOD_MS });
    if (this.known.size > KNOWN_MAX) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
    return days;
  }
}
