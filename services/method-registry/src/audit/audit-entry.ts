// A line of the audit log: as it is read, and as another service reports what it did.
import type { AuditId, OrgId } from '@methods/base/ids';
import type { Doer, Party } from './doer.ts';

export const TARGET_KINDS = [
  'method',
  'version',
  'key',
  'member',
  'settings',
  'upload',
  'run',
  'session',
  'endpoint',
  'delivery',
] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

interface AuditLine {
  readonly orgId: OrgId;
  /** aud_...; sorts by time. */
  readonly auditId: AuditId;
  readonly at: Date;
  /** `<noun>.<verb>`, for example method.publish. */
  readonly action: string;
  readonly targetKind: TargetKind;
  readonly targetId: string;
  /** JSON objects with the fields that changed; null where nothing was before or is after. */
  readonly beforeJson: string | null;
  readonly afterJson: string | null;
}

export interface AuditEntry extends AuditLine {
  readonly by: Party;
  readonly ip: string;
  readonly requestId: string;
  /** Empty: the doer acted through none. */
  readonly client: string;
}

export interface ReportedAct extends AuditLine {
  readonly doer: Doer;
}
