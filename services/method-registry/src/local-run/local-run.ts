// The record of a run on a person's own computer. The newest one is kept; its sequence orders them.
import type { MethodId, OrgId, RunId, VersionId } from '@methods/base/ids';
import type { Party } from '../audit/doer.ts';

const STATUSES = ['running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
export type LocalRunStatus = (typeof STATUSES)[number];

export interface LocalRun {
  readonly orgId: OrgId;
  /** Made on that computer. */
  readonly runId: RunId;
  /** Bare id. */
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly sequence: number;
  /** Null where the inspection holds none. */
  readonly status: LocalRunStatus | null;
  /** When its first record came. */
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly createdBy: Party;
}

export function isLocalRunStatus(value: unknown): value is LocalRunStatus {
  return STATUSES.some((status) => status === value);
}
