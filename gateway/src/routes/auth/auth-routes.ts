// Sign-in and sign-out with a browser. Without a configured issuer these routes reply with an error.
import { fastifyCookie } from '@fastify/cookie';
import type { Clock } from '@methods/base/clock';
import { TokenBuckets } from '@methods/base/token-bucket';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { countedAddress } from '../../callers/counted-address.ts';
import type { SignIn } from '../../callers/sign-in.ts';
import type { Accounts } from '../../clients/accounts.ts';
import { addAuthPages } from './auth-pages.ts';
import { addCallback } from './callback.ts';
import { addLogin } from './login.ts';
import { addLogout } from './logout.ts';

export interface AuthParts {
  readonly accounts: Accounts;
  readonly clock: Clock;
  /** Null: no issuer is configured. */
  readonly signIn: SignIn | null;
  readonly publicUrl: string | null;
  /** Zero also takes the limit of sign-ins off. */
  readonly rateLimitPerKey: number;
}

// An address that many people share may sign in 30 at once, then one every two seconds.
const SIGN_INS = { perSecond: 0.5, burst: 30 };

export async function addAuthRoutes(app: FastifyInstance, parts: AuthParts): Promise<void> {
  const { accounts, signIn, publicUrl } = parts;
  await app.register(async (scope) => {
    await scope.register(fastifyCookie);
    addAuthPages(scope);
    if (signIn === null || publicUrl === null) return addNoSignIn(scope);
    const routes = { accounts, signIn, publicUrl };
    // A person who signs in too often from an address must not keep the others there from signing out.
    addLogout(scope, routes);
    await scope.register(async (signIns) => {
      addAddressLimit(signIns, parts);
      addLogin(signIns, routes);
      addCallback(signIns, routes);
    });
  });
}

function addAddressLimit(scope: FastifyInstance, { clock, rateLimitPerKey }: AuthParts): void {
  if (rateLimitPerKey === 0) return;
  const buckets = new TokenBuckets({ clock, ...SIGN_INS });
  scope.addHook('onRequest', (request, _reply, done) => {
    const { allowed, waitMs } = buckets.take(countedAddress(request.ip));
    done(allowed ? undefined : new ServiceError('rate_limited', undefined, { retryAfterMs: waitMs }));
  });
}

function addNoSignIn(scope: FastifyInstance): void {
  const refuse = async () => {
    throw new ServiceError('not_found', 'This server has no identity provider (OIDC_ISSUER): there is no sign-in.');
  };
  scope.get('/auth/login', { schema: { hide: true } }, refuse);
  scope.get('/auth/callback', { schema: { hide: true } }, refuse);
  scope.post('/auth/logout', { schema: { hide: true } }, refuse);
}
