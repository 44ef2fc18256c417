// The store of runs on people's own computers.
import type { MethodId, OrgId, RunId, VersionId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Doer } from '../audit/doer.ts';
import type { Inspection } from '../local-run/inspection.ts';
import type { LocalRun } from '../local-run/local-run.ts';
import type { Page, PageRequest } from '../page/page.ts';

export interface NewLocalRunRecord {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly sequence: number;
  readonly inspection: Inspection;
  readonly doer: Doer;
}

export interface LocalRunSelection {
  readonly orgId: OrgId;
  /** Null: of all methods. */
  readonly methodId: MethodId | null;
  /** Empty: in any. */
  readonly status: string;
  readonly page: PageRequest;
}

export interface LocalRunStore {
  /**
   * Replaces an earlier record. Storing the same record again changes nothing.
   * @throws ServiceError not_found: no such version. stale_sequence with the fact `sequence`: the stored one is later,
   * or
   *   has this sequence with other content. invalid_request: the run is one of another version.
   */
  put(record: NewLocalRunRecord): Promise<LocalRun>;
  /** @throws ServiceError not_found. */
  find(orgId: OrgId, runId: RunId): Promise<{ readonly run: LocalRun; readonly inspectionJson: string }>;
  /** Newest first. */
  list(selection: LocalRunSelection): Promise<Page<LocalRun>>;
}
export const LocalRunStore: InjectionToken<LocalRunStore> = Symbol('LocalRunStore');
