// Announces to the gateways that follow an organization that its workers have connected or left: once a second at most,
// since a deployment restarts many workers at once. A lost message delays a page until it asks again by itself.
import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';

const EVERY_MS = 1_000;

export class WorkerNews {
  private readonly changedOrgs = new Set<OrgId>();
  private timer: Timer | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly publish: (orgId: OrgId) => void,
  ) {}

  changed(orgId: OrgId): void {
    this.changedOrgs.add(orgId);
    this.timer ??= this.clock.after(EVERY_MS, () => {
      this.timer = null;
      for (const each of this.changedOrgs) this.publish(each);
      this.changedOrgs.clear();
    });
  }
}
