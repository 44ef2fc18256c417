// The store of methods: their record, and which version is published.
import type { MethodId, OrgId, VersionId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Doer } from '../audit/doer.ts';
import type { Method } from '../method/method.ts';
import type { Page, PageRequest } from '../page/page.ts';

export interface Publication {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly doer: Doer;
}

export interface MethodSelection {
  readonly orgId: OrgId;
  /** A part of the display name, in any case; empty: all. */
  readonly search: string;
  readonly page: PageRequest;
}

/** Null fields are not changed. */
export interface MethodChange {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly displayName: string | null;
  /** Empty takes the prompt away. */
  readonly agentPrompt: string | null;
  readonly doer: Doer;
}

export interface MethodStore {
  /** @throws ServiceError not_found. */
  find(orgId: OrgId, methodId: MethodId): Promise<{ readonly method: Method; readonly agentPrompt: string }>;
  /** Those of the bare ids that the organization has. */
  existing(orgId: OrgId, methodIds: readonly MethodId[]): Promise<ReadonlySet<string>>;
  /** Newest first. */
  list(selection: MethodSelection): Promise<Page<Method>>;
  /** A repeat changes nothing. @throws ServiceError not_found. */
  change(change: MethodChange): Promise<Method>;
  /** The published version again changes nothing, not even who published. @throws ServiceError not_found. */
  publish(publication: Publication): Promise<Method>;
}
export const MethodStore: InjectionToken<MethodStore> = Symbol('MethodStore');
