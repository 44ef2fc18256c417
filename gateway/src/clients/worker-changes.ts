// Workers of the organizations followed here that connect or leave, as run-schedulers announce it over the bus.
import type { OrgId } from '@methods/base/ids';
import type { Bus } from '@methods/bus/connection';
import { workersChanged } from '@methods/bus/subjects';

export class WorkerChanges {
  constructor(private readonly bus: Pick<Bus, 'subscribe'>) {}

  /** Returns a function that ends it. */
  follow(orgId: OrgId, changed: () => void): () => void {
    const subscription = this.bus.subscribe(workersChanged(orgId), changed);
    return () => subscription.unsubscribe();
  }
}
