// The gateway's view of people: the member of a verified identity or of a session's cookie, fetched once and cached for
// at most 30 s. The bus announces changes, which drop the cached entries at once.

import { isRole, type Role } from '@methods/auth/caller';
import type { Identity } from '@methods/auth/identity';
import type { Clock } from '@methods/base/clock';
import type { OrgId, UserId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import type { RegistryChanged } from '@methods/proto/event/v1/event_pb';
import type { Member as MemberMessage } from '@methods/proto/registry/v1/account_pb';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { AgedCache } from '../cache/aged-cache.ts';
import type { RequestDoer } from './registry-calls.ts';

export interface AccountsOptions {
  /** `host:port` of the method registry. */
  readonly address: string;
  readonly clock: Clock;
  /** The issuer of these people; empty without an issuer. */
  readonly issuer: string;
}

export interface Member {
  readonly orgId: OrgId;
  /** usr_... */
  readonly userId: UserId;
  readonly role: Role;
  /** Empty: unknown. */
  readonly name: string;
  /** In lower case, if the issuer verified it; else empty. */
  readonly verifiedEmail: string;
}

/** The state of a sign-in until the issuer sends the person back. */
export interface SignInUnderWay {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** The path to open after the sign-in. */
  readonly returnTo: string;
}

/** The origin of a request; a Fastify request fits. */
export interface Origin {
  readonly ip: string;
  /** The request's id. */
  readonly id: string;
}

interface KnownSession {
  readonly member: Member;
  /** Wall time in ms. */
  readonly expiresAtMs: number;
}

const CALL_MS = 3_000;
const AGE_MS = 30_000;
const UNKNOWN_SESSION_AGE_MS = 5_000;
const MIB = 1024 * 1024;

export class Accounts implements Stoppable {
  private readonly client: Client<typeof AccountService>;
  // By organization and subject, in the issuer's ids.
  private readonly members: AgedCache<Member>;
  // By the hex hash of the cookie; null: ended, expired or unknown.
  private readonly sessions: AgedCache<KnownSession | null>;

  constructor(private readonly options: AccountsOptions) {
    const { address, clock } = options;
    this.client = rpcClient(AccountService, address);
    this.members = new AgedCache<Member>({ clock, bytesMax: 16 * MIB, ageMsOf: () => AGE_MS, bytesOf: () => 500 });
    this.sessions = new AgedCache<KnownSession | null>({
      clock,
      bytesMax: 16 * MIB,
      ageMsOf: (session) => (session === null ? UNKNOWN_SESSION_AGE_MS : AGE_MS),
      bytesOf: () => 500,
    });
  }

  /** Returns the member of a verified identity, and creates it on first use. */
  memberOf(identity: Identity, from: Origin): Member | Promise<Member> {
    const key = JSON.stringify([identity.externalOrgId, identity.subject]);
    return this.members.get(key, () => this.ensure(identity, from));
  }

  /** Returns the member who signs in, and stores the issuer's present claims about them. */
  signedIn(identity: Identity, from: Origin): Promise<Member> {
    return this.ensure(identity, from);
  }

  /** Returns the owner of a session, by the hash of its cookie; null for an unknown one. */
  sessionMember(sessionSha256: Buffer): Member | null | Promise<Member | null> {
    const session = this.sessions.get(sessionSha256.toString('hex'), () => this.resolveSession(sessionSha256));
    return session instanceof Promise ? session.then((late) => this.unexpired(late)) : this.unexpired(session);
  }

  /** @returns wall time in ms at which the sign-in expires */
  async beginSignIn(signInSha256: Buffer, signIn: SignInUnderWay): Promise<number> {
    const { expiresAtMs } = await this.client.beginSignIn({ signInSha256, ...signIn }, { timeoutMs: CALL_MS });
    return expiresAtMs;
  }

  /** Returns a sign-in, once; null when there is none any more, or one of another state, which is not taken. */
  async takeSignIn(signInSha256: Buffer, state: string): Promise<SignInUnderWay | null> {
    try {
      return await this.client.takeSignIn({ signInSha256, state }, { timeoutMs: CALL_MS });
    } catch (error) {
      if (isUnknown(error)) return null;
      throw error;
    }
  }

  /** @returns wall time in ms at which the session expires */
  async createSession(sessionSha256: Buffer, { orgId, userId }: Member, doer: RequestDoer): Promise<number> {
    const request = { sessionSha256, orgId, userId, doer };
    const { expiresAtMs } = await this.client.createSession(request, { timeoutMs: CALL_MS });
    return expiresAtMs;
  }

  async endSession(sessionSha256: Buffer, doer: RequestDoer): Promise<void> {
    await this.client.endSession({ sessionSha256, doer }, { timeoutMs: CALL_MS });
    this.sessions.drop(sessionSha256.toString('hex'));
  }

  /** Drops the entry that an event names: a member whose role has changed, or a session that has ended. */
  onChanged({ kind, orgId, id, authSha256 }: RegistryChanged): void {
    if (kind === 'session') this.sessions.drop(authSha256);
    else if (kind === 'member') this.memberChanged(orgId, id as UserId);
  }

  /** This gateway's own change is valid from its reply on, even if the message is late or lost. */
  memberChanged(orgId: OrgId, userId: UserId): void {
    const named = (member: Member) => member.userId === userId && member.orgId === orgId;
    this.members.dropWhere(named);
    this.sessions.dropWhere((session) => session !== null && named(session.member));
  }

  /** Events may have been missed: entries are fetched again before their next use. */
  onEventsMissed(): void {
    this.members.expireAll();
    this.sessions.expireAll();
  }

  stop(): void {
    this.client.close();
  }

  private unexpired(session: KnownSession | null): Member | null {
    return session !== null && this.options.clock.wallMs() < session.expiresAtMs ? session.member : null;
  }

  private async ensure(identity: Identity, { ip, id }: Origin): Promise<Member> {
    const request = { issuer: this.options.issuer, ...identity, ip, requestId: id };
    const { member } = await this.client.ensureUser(request, { timeoutMs: CALL_MS });
    return memberOf(member);
  }

  private async resolveSession(sessionSha256: Buffer): Promise<KnownSession | null> {
    try {
      const { member, expiresAtMs } = await this.client.resolveSession({ sessionSha256 }, { timeoutMs: CALL_MS });
      return { member: memberOf(member), expiresAtMs };
    } catch (error) {
      if (isUnknown(error)) return null;
      throw error;
    }
  }
}

function memberOf(message: MemberMessage | undefined): Member {
  if (!message || !isRole(message.role)) throw new ServiceError('internal');
  const { orgId, userId, role, name } = message;
  return { orgId, userId, role, name, verifiedEmail: verifiedEmail(message) };
}

/** In lower case, if the issuer verified it; else empty. */
export function verifiedEmail({ email, emailVerified }: Pick<MemberMessage, 'email' | 'emailVerified'>): string {
  return emailVerified ? email.toLowerCase() : '';
}

function isUnknown(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'unauthorized' || error.code === 'not_found');
}
