// A line of the audit log, as read and as other services report their acts, and the actor of a change.
import type { AuditId, OrgId } from '@methods/base/ids';

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
  /** JSON objects with the fields that changed; null if there was nothing before, or is nothing after. */
  readonly beforeJson: string | null;
  readonly afterJson: string | null;
}

export interface AuditEntry extends AuditLine {
  readonly by: Party;
  readonly ip: string;
  readonly requestId: string;
  /** Empty: the doer used no client. */
  readonly client: string;
}

export interface ReportedAct extends AuditLine {
  readonly doer: Doer;
}

/** The actor of a change in an organization, and its address. */
export type DoerKind = 'user' | 'service_key' | 'upload' | 'system';

export interface Doer {
  readonly kind: DoerKind;
  /** usr_, key_ or upl_; for system the name of the part. */
  readonly id: string;
  /** Empty for system. */
  readonly ip: string;
  readonly requestId: string;
  /** Name and version of the MCP client that the doer used; absent: none. */
  readonly client?: string;
}

/** A doer as people see it. */
export interface Party {
  readonly kind: DoerKind;
  readonly id: string;
  /** Empty if it is no longer known. */
  readonly name: string;
}

/** Derives the kind from the prefix of a stored id. */
export function party(id: string, name: string | null): Party {
  return { kind: kindOf(id), id, name: name ?? '' };
}

function kindOf(id: string): DoerKind {
  if (id.startsWith('usr_')) return 'user';
  if (id.startsWith('key_')) return 'service_key';
  return id.startsWith('upl_') ? 'upload' : 'system';
}
