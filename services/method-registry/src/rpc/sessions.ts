// CreateSession, ResolveSession and EndSession: the member of a dashboard cookie, until it expires or is ended;
// BeginSignIn and TakeSignIn: what the gateway must remember while a person is at the issuer.
import { ServiceError } from '@methods/errors/service-error';
import type {
  BeginSignInRequest,
  CreateSessionRequest,
  EndSessionRequest,
  ResolveSessionRequest,
  TakeSignInRequest,
} from '@methods/proto/registry/v1/account_service_pb';
import { inject, injectable } from 'tsyringe';
import { signIn } from '../account/sign-in.ts';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { SessionStore } from '../store/session-store.ts';
import { memberMessage } from './registry-message.ts';
import { digestOf, doerOf, orgIdOf, userIdOf } from './request-fields.ts';

@injectable()
export class Sessions {
  constructor(
    @inject(SessionStore) private readonly sessions: SessionStore,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  async create(request: CreateSessionRequest) {
    const orgId = orgIdOf(request.orgId);
    const userId = userIdOf(request.userId);
    const sessionSha256 = digestOf('session_sha256', request.sessionSha256);
    const doer = doerOf(request.doer);
    const { expiresAt } = await this.sessions.create({ orgId, userId, sessionSha256, doer });
    return { expiresAtMs: expiresAt.getTime() };
  }

  /** @throws ServiceError unauthorized for unknown, expired, ended and malformed alike. */
  async resolve({ sessionSha256 }: ResolveSessionRequest) {
    const session = sessionSha256.length === 32 ? await this.sessions.resolve(sessionSha256) : null;
    if (session === null) throw new ServiceError('unauthorized');
    return { member: memberMessage(session.member), expiresAtMs: session.expiresAt.getTime() };
  }

  /** Signing out always succeeds, even with an unknown cookie. Emitted for a repeat too. */
  async end(request: EndSessionRequest) {
    const sessionSha256 = digestOf('session_sha256', request.sessionSha256);
    const owner = await this.sessions.end(sessionSha256, doerOf(request.doer));
    if (owner !== null) this.changes.sessionEnded({ ...owner, sessionSha256 });
    return {};
  }
}

/** BeginSignIn and TakeSignIn: what the gateway must remember while a person is at the issuer. */
@injectable()
export class SignIns {
  constructor(@inject(SessionStore) private readonly sessions: SessionStore) {}

  async begin(request: BeginSignInRequest) {
    const sha256 = digestOf('sign_in_sha256', request.signInSha256);
    const { expiresAt } = await this.sessions.beginSignIn(sha256, signIn(request));
    return { expiresAtMs: expiresAt.getTime() };
  }

  /** @throws ServiceError unauthorized for unknown, expired, taken, malformed and of another state alike. */
  async take({ signInSha256, state }: TakeSignInRequest) {
    const isWellFormed = signInSha256.length === 32 && (state === undefined || STATE.test(state));
    const taken = isWellFormed ? await this.sessions.takeSignIn(signInSha256, state ?? null) : null;
    if (taken === null) throw new ServiceError('unauthorized');
    return { ...taken };
  }
}

/** A browser may bring any text, of which Postgres refuses some. */
const STATE = /^[\x21-\x7e]{1,256}$/;
