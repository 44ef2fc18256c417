// The audit log. Most lines are written with the change they record (`audit-row.ts`); here are the other services' and
// the reading.
import type { OrgId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { AuditEntry, ReportedAct } from '../audit/audit-entry.ts';
import type { Page, PageRequest } from '../page/page.ts';

/** Empty: all. */
export interface AuditFilter {
  readonly action: string;
  readonly targetId: string;
  readonly doerId: string;
}

export interface AuditStore {
  /** All or none; known audit ids are not changed. @throws ServiceError not_found for an organization. */
  record(acts: readonly ReportedAct[]): Promise<void>;
  /** Newest first. */
  list(orgId: OrgId, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>>;
}
export const AuditStore: InjectionToken<AuditStore> = Symbol('AuditStore');
