// The store of versions: their exact bytes, their order and their locks.
import type { MethodId, OrgId, VersionId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Doer } from '../audit/doer.ts';
import type { Method, Version, VersionContent } from '../method/method.ts';
import type { MethodSource } from '../method/method-source.ts';
import type { Page, PageRequest } from '../page/page.ts';

export interface NewVersion {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  /** The version the author started from; null: the method had none. */
  readonly baseVersion: VersionId | null;
  readonly source: MethodSource;
  readonly reason: string;
  readonly doer: Doer;
}

export type VersionChoice =
  | { readonly kind: 'current' }
  | { readonly kind: 'published' }
  | { readonly kind: 'saved'; readonly versionId: VersionId };

export interface VersionLock {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly lock: Uint8Array;
}

export interface VersionStore {
  /**
   * Saves upon `baseVersion`, which must be current: of any number of saves upon one base, one wins. When the current
   * version already holds these bytes it is returned with `created: false`, for any base. @throws ServiceError
   * not_found, or version_conflict with the fact `current_version`, empty where there is none.
   */
  save(version: NewVersion): Promise<{ readonly version: Version; readonly created: boolean }>;
  /** @throws ServiceError not_found, or not_published. */
  find(orgId: OrgId, methodId: MethodId, choice: VersionChoice): Promise<VersionContent & { readonly method: Method }>;
  /** Newest first. @throws ServiceError not_found. */
  list(orgId: OrgId, methodId: MethodId, page: PageRequest): Promise<Page<Version>>;
  /** The first lock stays. @throws ServiceError not_found. */
  putLock(lock: VersionLock): Promise<{ readonly lockSha256: string; readonly stored: boolean }>;
}
export const VersionStore: InjectionToken<VersionStore> = Symbol('VersionStore');
