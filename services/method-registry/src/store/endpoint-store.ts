// The store of endpoints. Neither a URL nor a secret in clear ever comes here.
import type { EndpointId, OrgId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Doer } from '../audit/doer.ts';
import type { Endpoint, EndpointEvent, EndpointFormat, SealedTarget } from '../endpoint/endpoint.ts';

export interface NewEndpoint {
  readonly orgId: OrgId;
  readonly endpointId: EndpointId;
  readonly name: string;
  readonly format: EndpointFormat;
  readonly sealedUrl: Buffer;
  readonly shownUrl: string;
  readonly events: readonly EndpointEvent[];
  readonly sealedSecret: Buffer;
  readonly doer: Doer;
}

export interface EndpointAct {
  readonly orgId: OrgId;
  readonly endpointId: EndpointId;
  readonly doer: Doer;
}

/** Null fields stay as they are. */
export interface EndpointChange {
  readonly name: string | null;
  readonly url: { readonly sealed: Buffer; readonly shown: string } | null;
  readonly events: readonly EndpointEvent[] | null;
  readonly paused: boolean | null;
}

export interface EndpointStore {
  /** @throws ServiceError invalid_request when the name is taken, or there are as many as may be. */
  create(endpoint: NewEndpoint): Promise<Endpoint>;
  /** Oldest first. */
  list(orgId: OrgId): Promise<readonly Endpoint[]>;
  /** @throws ServiceError not_found. */
  find(orgId: OrgId, endpointId: EndpointId): Promise<Endpoint>;
  /** @throws ServiceError not_found; invalid_request when the name is taken. */
  change(act: EndpointAct, change: EndpointChange): Promise<Endpoint>;
  /** @throws ServiceError not_found. */
  remove(act: EndpointAct): Promise<void>;
  /** The present secret signs for `overlapMs` more. @throws ServiceError not_found. */
  rotate(act: EndpointAct, sealed: Buffer, overlapMs: number): Promise<Endpoint>;
  targets(orgId: OrgId): Promise<readonly SealedTarget[]>;
  /** What some endpoint takes that is not paused. */
  events(orgId: OrgId): Promise<readonly EndpointEvent[]>;
}
export const EndpointStore: InjectionToken<EndpointStore> = Symbol('EndpointStore');
