// BeginSignIn and TakeSignIn: what the gateway must remember while a person is at the issuer.
import { ServiceError } from '@methods/errors/service-error';
import type { BeginSignInRequest, TakeSignInRequest } from '@methods/proto/registry/v1/account_service_pb';
import { inject, injectable } from 'tsyringe';
import { signIn } from '../account/sign-in.ts';
import { SessionStore } from '../store/session-store.ts';
import { digestOf } from './request-ids.ts';

@injectable()
export class SignIns {
  constructor(@inject(SessionStore) private readonly sessions: SessionStore) {}

  async begin(request: BeginSignInRequest) {
    const sha256 = digestOf('sign_in_sha256', request.signInSha256);
    const { expiresAt } = await this.sessions.beginSignIn(sha256, signIn(request));
    return { expiresAtMs: expiresAt.getTime() };
  }

  /** @throws ServiceError unauthorized for unknown, expired, taken and malformed alike. */
  async take({ signInSha256 }: TakeSignInRequest) {
    const taken = signInSha256.length === 32 ? await this.sessions.takeSignIn(signInSha256) : null;
    if (taken === null) throw new ServiceError('unauthorized');
    return { ...taken };
  }
}
