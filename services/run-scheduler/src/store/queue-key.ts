// Names the queue of a run: one for each organization, method and set of features that only some workers have. So a run
// that no connected worker can execute never blocks one that some worker can.
import type { OrgId, ProductionId } from '@methods/base/ids';
import { specialFeatures } from '@methods/method/features';
import type { RunFacts } from '../run/run.ts';

export interface QueueKey {
  readonly orgId: OrgId;
  /** The production id, with the features needed: `wf_1`, or `wf_1+python,shell`. */
  readonly method: ProductionId;
}

export function queueOf({ orgId, method, needs }: Pick<RunFacts, 'orgId' | 'method' | 'needs'>): QueueKey {
  return { orgId, method: needs === '' ? method : `${method}+${needs}` };
}

/**
 * Returns the queues that a worker can serve: for each of its methods every subset of its special features, at most 32.
 */
export function queuesServed(orgId: OrgId, methods: Iterable<ProductionId>, features: readonly string[]): QueueKey[] {
  let sets: string[][] = [[]];
  for (const feature of specialFeatures(features)) sets = sets.concat(sets.map((set) => [...set, feature]));
  return [...methods].flatMap((method) => sets.map((set) => queueOf({ orgId, method, needs: set.join(',') })));
}

/** Returns the number of these queues. */
export function countServed(methods: number, features: readonly string[]): number {
  return methods * 2 ** specialFeatures(features).length;
}
