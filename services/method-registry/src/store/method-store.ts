// What the registry remembers of methods: their record, what a creation key made, and which version is published.
import type { InjectionToken } from 'tsyringe';
import type { Method, Version } from '../method/method.ts';
import type { MethodSource } from '../method/method-source.ts';

export interface NewMethod {
  readonly orgId: string;
  /** SHA-256 of the creation key. */
  readonly idempotencyHash: Uint8Array;
  readonly displayName: string;
  readonly source: MethodSource;
  readonly createdBy: string;
}

/** A method with the version it was created with, which need not be current any more. */
export interface CreatedMethod {
  readonly method: Method;
  readonly version: Version;
}

export interface Publication {
  readonly orgId: string;
  readonly methodId: string;
  readonly versionId: string;
  readonly publishedBy: string;
}

export interface MethodStore {
  /** What a creation key made; null when it made nothing yet. */
  findByRequest(orgId: string, idempotencyHash: Uint8Array): Promise<CreatedMethod | null>;
  /** Of any number of creations with one key, one makes the method and all get it. @throws ServiceError not_found. */
  create(method: NewMethod): Promise<CreatedMethod & { readonly created: boolean }>;
  /** @throws ServiceError not_found. */
  find(orgId: string, methodId: string): Promise<Method>;
  /** The published version again changes nothing, not even who published. @throws ServiceError not_found. */
  publish(publication: Publication): Promise<Method>;
}
export const MethodStore: InjectionToken<MethodStore> = Symbol('MethodStore');
