// The store of builds: durable jobs, of which each has one effect, however many begin it.
import type { MethodId, OrgId, UploadId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Doer } from '../audit/doer.ts';
import type { MethodSource } from '../method/method-source.ts';

/** Tries that may end without a result: a recording may take down the process that compiles it. */
export const BUILD_TRIES_MAX = 3;

/** An attempt under way. The holder of its token may end it, until the lease expired and another attempt began. */
export interface ClaimedBuild {
  readonly orgId: OrgId;
  readonly methodId: MethodId;
  readonly uploadId: UploadId;
  readonly token: string;
  readonly isLarge: boolean;
  /** Tries that ended without a result: their process died. */
  readonly triesBefore: number;
}

/** The free places of a registry now. */
export interface ClaimTerms {
  readonly leaseMs: number;
  readonly takeLarge: boolean;
  /** Organizations that have their share of this registry's places. */
  readonly noneOf: readonly string[];
  /** Organizations that have their share of its places for large recordings. */
  readonly noLargeOf: readonly string[];
}

export interface BuildStore {
  /**
   * A queued build, or one whose lease expired; null: there is none. Chooses the organization with the fewest builds in
   * progress, then the one served longest ago. Each build is returned to one caller.
   */
  claim(terms: ClaimTerms): Promise<ClaimedBuild | null>;
  /** The lease runs that long from now. Nothing changes where another attempt has begun, or this one ended. */
  renew(build: ClaimedBuild, leaseMs: number): Promise<void>;
  /**
   * Saves the draft as the method's first version. A version that was saved meanwhile stays, and the draft is dropped.
   * False, and nothing changed, where another attempt has begun.
   */
  succeed(build: ClaimedBuild, draft: MethodSource, reason: string): Promise<boolean>;
  /** `error` is a sentence for people. False, and nothing changed, where another attempt has begun. */
  fail(build: ClaimedBuild, error: string): Promise<boolean>;
  /** Gives it back as if it had never begun. */
  release(build: ClaimedBuild): Promise<void>;
  /** @throws ServiceError not_found, not_failed. */
  retry(orgId: OrgId, methodId: MethodId, doer: Doer): Promise<void>;
}
export const BuildStore: InjectionToken<BuildStore> = Symbol('BuildStore');
