// CreateSession, ResolveSession and EndSession: the member of a dashboard cookie, until it expires or is ended.
import { ServiceError } from '@methods/errors/service-error';
import type {
  CreateSessionRequest,
  EndSessionRequest,
  ResolveSessionRequest,
} from '@methods/proto/registry/v1/account_service_pb';
import { inject, injectable } from 'tsyringe';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { SessionStore } from '../store/session-store.ts';
import { memberMessage } from './account-message.ts';
import { doerOf } from './request-doer.ts';
import { digestOf, orgIdOf, userIdOf } from './request-ids.ts';

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

  /** Signing out always succeeds, also with an unknown cookie. Emitted at a repeat too. */
  async end(request: EndSessionRequest) {
    const sessionSha256 = digestOf('session_sha256', request.sessionSha256);
    const owner = await this.sessions.end(sessionSha256, doerOf(request.doer));
    if (owner !== null) this.changes.sessionEnded({ ...owner, sessionSha256 });
    return {};
  }
}
