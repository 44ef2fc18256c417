// Names the queue of a run: one for each organization, method and set of features that only some workers have. So a run
// that no connected worker can execute never blocks one that some worker can.
import type { KeyId, OrgId, ProductionId } from '@methods/base/ids';
import { specialFeatures } from '@methods/method/features';
import type { RunFacts } from '../run/run.ts';

export interface QueueKey {
  readonly orgId: OrgId;
  /**
   * The production id, with the features needed, and the content key of a run in device mode: `wf_1`,
   * `wf_1+python,shell`, or `wf_1+python@key_1.<fingerprint>`.
   */
  readonly method: ProductionId;
}

/** A content key that a worker has: the service key that it is a part of, and its fingerprint in hex. */
export interface DeviceKey {
  readonly keyId: KeyId;
  readonly fingerprint: string;
}

type QueuedFacts = Pick<RunFacts, 'orgId' | 'method' | 'needs' | 'keyId' | 'sealedBy'>;

export function queueOf({ orgId, method, needs, keyId, sealedBy }: QueuedFacts): QueueKey {
  const device = sealedBy === null || keyId === '' ? null : { keyId, fingerprint: sealedBy };
  return queueFor(orgId, method, needs, device);
}

/**
 * With the fingerprint, a run that was sealed with a wrong content part neither reaches nor blocks a worker that could
 * not open it.
 */
export function queueFor(orgId: OrgId, method: ProductionId, needs: string, device: DeviceKey | null): QueueKey {
  const withNeeds: ProductionId = needs === '' ? method : `${method}+${needs}`;
  return { orgId, method: device === null ? withNeeds : `${withNeeds}@${device.keyId}.${device.fingerprint}` };
}

/** Returns what the name of a queue says. */
export function queueParts(name: ProductionId): {
  readonly method: ProductionId;
  readonly needs: string[];
  /** Empty: its runs are not in device mode. */
  readonly keyId: string;
} {
  const [plain = name, device = ''] = name.split('@');
  const [method = plain, needs = ''] = plain.split('+');
  return {
    method: method as ProductionId,
    needs: needs === '' ? [] : needs.split(','),
    keyId: device.split('.')[0] ?? '',
  };
}

interface Serving {
  readonly methods: readonly ProductionId[];
  readonly features: readonly string[];
  readonly deviceKeys: readonly DeviceKey[];
}

/**
 * Returns the queues that a worker can serve: for each of its methods every subset of its special features, at most 32,
 * for runs that the service can read and again for each of its content keys.
 */
export function queuesServed(orgId: OrgId, { methods, features, deviceKeys }: Serving): QueueKey[] {
  let sets: string[][] = [[]];
  for (const feature of specialFeatures(features)) sets = sets.concat(sets.map((set) => [...set, feature]));
  return methods.flatMap((method) =>
    [null, ...deviceKeys].flatMap((key) => sets.map((set) => queueFor(orgId, method, set.join(','), key))),
  );
}

/** Returns the number of these queues. */
export function countServed({ methods, features, deviceKeys }: Serving): number {
  return methods.length * 2 ** specialFeatures(features).length * (1 + deviceKeys.length);
}
