// Sign-in and sign-out with a browser: to the issuer, back from it, and the end of the session. Without a configured
// issuer these routes reply with an error.
import { fastifyCookie } from '@fastify/cookie';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { newOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import type { Clock } from '@methods/base/clock';
import { TokenBuckets } from '@methods/base/token-bucket';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  type BrowserSession,
  browserSessions,
  clearSessionCookie,
  hasOwnOrigin,
  SESSIONS_MAX,
  setSessionCookie,
  shownTokens,
} from '../../callers/browser-sessions.ts';
import { CallerRefused } from '../../callers/caller-refused.ts';
import type { SignIn } from '../../callers/sign-in.ts';
import { clientAddress, countedAddress } from '../../callers/surface.ts';
import type { Accounts } from '../../clients/accounts.ts';
import { addAuthPages, authReplies, type SignInParts, wantsPage } from './auth-pages.ts';

export interface AuthParts {
  readonly accounts: Accounts;
  readonly clock: Clock;
  /** Null: no issuer is configured. */
  readonly signIn: SignIn | null;
  readonly publicUrl: string | null;
  /** 0 also removes the limit of sign-ins. */
  readonly rateLimitPerKey: number;
}

/** As long as a session: each ends on the server when its own time is over. */
const COOKIE_MS = 7 * 86_400_000;

// An address shared by many people may sign in 30 at once, then one every two seconds.
const SIGN_INS = { perSecond: 0.5, burst: 30 };

export async function addAuthRoutes(app: FastifyInstance, parts: AuthParts): Promise<void> {
  const { accounts, signIn, publicUrl } = parts;
  await app.register(async (scope) => {
    await scope.register(fastifyCookie);
    addAuthPages(scope);
    if (signIn === null || publicUrl === null) return addNoSignIn(scope);
    const routes = { accounts, signIn, publicUrl, clock: parts.clock };
    // A person who signs in too often from an address must not prevent others there from signing out.
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

/**
 * GET /auth/callback: the issuer sends the person back. A sign-in is taken once, and the id in the cookie is replaced,
 * so that the old one is useless. The browser stays signed in to other organizations.
 */
function addCallback(scope: FastifyInstance, { accounts, signIn, publicUrl, clock }: SignInParts): void {
  const schema = {
    operationId: 'signedIn',
    summary: 'The issuer sends people back here',
    tags: ['sign-in'],
    response: authReplies({ 303: 'Signed in; redirects to the path of `return_to`.' }),
  };
  scope.get('/auth/callback', { schema }, async (request, reply) => {
    const [token, ...others] = shownTokens(request);
    const query = queryOf(request.raw.url);
    const state = new URLSearchParams(query).getAll('state').join('\n');
    const underWay = token === undefined ? null : await accounts.takeSignIn(opaqueTokenSha256(token), state);
    // What another tab, or a page of another site, brings ends no sign-in that is under way.
    if (underWay === null) throw new CallerRefused('sign_in_unknown', SIGN_IN_UNKNOWN);
    if (others.length === 0) clearSessionCookie(reply, publicUrl);
    else setSessionCookie(reply, others, publicUrl, clock.wallMs() + COOKIE_MS);
    const member = await accounts.signedIn(await signIn.complete(query, underWay), request);
    const session = newOpaqueToken();
    const doer = { kind: 'user', id: member.userId, ip: clientAddress(request), requestId: request.id } as const;
    const expiresAtMs = await accounts.createSession(opaqueTokenSha256(session), member, doer);
    const open = await browserSessions(accounts, request);
    const kept = open.filter((each) => each.member.orgId !== member.orgId).slice(0, SESSIONS_MAX - 1);
    setSessionCookie(reply, [session, ...kept.map((each) => each.token)], publicUrl, expiresAtMs);
    // No one has their tokens any more.
    for (const each of open) if (!kept.includes(each)) await endSession(accounts, each, request);
    request.caller = { kind: 'user', ...member, credential: 'session' };
    return reply.redirect(underWay.returnTo, 303);
  });
}

const SIGN_IN_UNKNOWN = 'This sign-in has ended, it was completed already, or a later one was begun in this browser.';

function queryOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark);
}

const LoginQuery = Type.Object(
  {
    return_to: Type.Optional(Type.String({ maxLength: 2_048, description: 'Path to go to afterwards.' })),
    another: Type.Optional(
      Type.Unsafe<'true'>({
        type: 'string',
        enum: ['true'],
        description: 'The issuer asks who signs in, even if it knows: for another organization or person.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** GET /auth/login: sends the person to the issuer. The cookie names the sign-in in progress until they come back. */
function addLogin(scope: FastifyInstance, { accounts, signIn, publicUrl, clock }: SignInParts): void {
  const schema = {
    operationId: 'signIn',
    summary: 'Sign in with a browser',
    tags: ['sign-in'],
    querystring: LoginQuery,
    response: authReplies({ 302: 'To the issuer.' }),
  };
  scope.withTypeProvider<TypeBoxTypeProvider>().get('/auth/login', { schema }, async (request, reply) => {
    const { url, underWay } = await signIn.begin(
      ownPath(request.query.return_to ?? '/'),
      request.query.another === 'true',
    );
    const token = newOpaqueToken();
    const expiresAtMs = await accounts.beginSignIn(opaqueTokenSha256(token), underWay);
    const sessions = await browserSessions(accounts, request);
    const tokens = sessions.slice(0, SESSIONS_MAX).map((each) => each.token);
    // An abandoned sign-in ends no session.
    const untilMs = tokens.length === 0 ? expiresAtMs : clock.wallMs() + COOKIE_MS;
    setSessionCookie(reply, [token, ...tokens], publicUrl, untilMs);
    return reply.redirect(url, 302);
  });
}

// Browsers treat `//host` and `/\host` as other hosts, and some drop characters other than visible ASCII.
function ownPath(path: string): string {
  if (/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path)) return path;
  const message = 'return_to has to be a path of this server.';
  throw new ServiceError('invalid_request', message, {
    findings: [{ path: '/return_to', code: 'return_to', message }],
  });
}

async function endSession(
  accounts: Accounts,
  { token, member }: BrowserSession,
  request: FastifyRequest,
): Promise<void> {
  const doer = { kind: 'user', id: member.userId, ip: clientAddress(request), requestId: request.id } as const;
  await accounts.endSession(opaqueTokenSha256(token), doer);
}

/** POST /auth/logout: ends all sessions of the browser on the server, not only there. */
function addLogout(scope: FastifyInstance, { accounts, publicUrl }: SignInParts): void {
  const schema = {
    operationId: 'signOut',
    summary: 'Sign out',
    tags: ['sign-in'],
    response: authReplies({ 204: 'Signed out.', 303: 'Signed out; a browser is redirected to /.' }),
  };
  scope.post('/auth/logout', { schema }, async (request, reply) => {
    if (!hasOwnOrigin(request, publicUrl)) {
      throw new CallerRefused('foreign_origin', 'Signing out has to come from a page of this server.');
    }
    for (const session of [...(await browserSessions(accounts, request))].reverse()) {
      await endSession(accounts, session, request);
      request.caller = { kind: 'user', ...session.member, credential: 'session' };
    }
    clearSessionCookie(reply, publicUrl);
    return wantsPage(request) ? reply.redirect('/', 303) : reply.code(204).send();
  });
}
