// Every kind of credential: those that open something, and everything that looks like one of them.
import { newOpaqueToken } from '@methods/auth/opaque-token';
import { createServiceKey } from '@methods/auth/service-key';
import { SignJWT } from 'jose';
import { TEST_DOER } from '../../harness/test-doer.ts';
import { newSigningKey, TestIssuer } from '../../harness/test-issuer.ts';
import { signedInSession } from '../browser-session.ts';
import { secondKey } from '../other-callers.ts';
import type { Stack } from '../stack.ts';
import type { Organization } from './organizations.ts';
import type { Credential, CredentialKind } from './rules.ts';
import type { Role } from './running-routes.ts';

export interface CredentialParts {
  readonly stack: Stack;
  readonly issuer: TestIssuer;
  readonly ours: Organization;
  readonly theirs: Organization;
}

const ROLES: readonly Role[] = ['viewer', 'member', 'admin'];
const HOUR_S = 3_600;

export async function allCredentials(parts: CredentialParts): Promise<readonly Credential[]> {
  return [
    { name: 'nothing', kind: 'none', organization: null, role: null, headers: () => ({}) },
    ...(await goodTokens(parts)),
    ...(await badTokens(parts)),
    ...(await sessions(parts)),
    ...(await keys(parts)),
    ...uploadTokens(parts),
  ];
}

async function goodTokens({ stack, issuer, ours, theirs }: CredentialParts): Promise<Credential[]> {
  const audiences = { 'machine token': `${stack.ready.base_url}/api`, 'mcp token': stack.ready.mcp_url } as const;
  const made: Credential[] = [];
  for (const kind of ['machine token', 'mcp token'] as const) {
    const aud = audiences[kind];
    for (const role of ROLES) {
      const token = await issuer.token({ aud, sub: role, role, org_id: ours.externalId });
      made.push(bearer(`${role}'s ${kind}`, kind, token, role));
    }
    const foreign = await issuer.token({ aud, sub: 'admin', role: 'admin', org_id: theirs.externalId });
    made.push({ ...bearer(`their admin's ${kind}`, kind, foreign, 'admin'), organization: 'theirs' });
    const homeless = await issuer.token({ aud, sub: 'homeless', org_id: undefined });
    made.push({ ...bearer(`${kind} without an organization`, kind, homeless, null), organization: null });
  }
  return made;
}

/** Each would be an admin's, except for the one fault in its name. */
async function badTokens({ stack, issuer, ours }: CredentialParts): Promise<Credential[]> {
  const aud = `${stack.ready.base_url}/api`;
  const admin = { aud, sub: 'admin', role: 'admin', org_id: ours.externalId };
  const now = Math.floor(Date.now() / 1_000);
  await using stranger = await TestIssuer.started();
  const forged = await newSigningKey('ES256');
  const usual = { ...admin, iss: issuer.url, iat: now, exp: now + HOUR_S };
  const rsaKey = issuer.keys.find(({ alg }) => alg === 'RS256');
  const unsigned = (header: object) =>
    `${[header, usual].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;
  const byPublicKey = new SignJWT(usual)
    .setProtectedHeader({ alg: 'HS256', kid: rsaKey?.kid ?? '', typ: 'at+jwt' })
    .sign(Buffer.from(JSON.stringify(rsaKey?.publicJwk)));
  const tokens: Readonly<Record<string, string>> = {
    garbage: 'garbage',
    'three garbled parts': 'e30.e30.e30',
    'expired token': await issuer.token({ ...admin, iat: now - 2 * HOUR_S, exp: now - HOUR_S }),
    'token of the future': await issuer.token({ ...admin, nbf: now + HOUR_S }),
    'token without an end': await issuer.token({ ...admin, exp: undefined }),
    "other issuer's token": await stranger.token(admin),
    "other issuer's token in this one's name": await stranger.token({ ...admin, iss: issuer.url }),
    "token by another key under this issuer's key id": await issuer.token(admin, { key: forged.privateKey }),
    'token of another audience': await issuer.token({ ...admin, aud: 'https://elsewhere.example/api' }),
    'token without an audience': await issuer.token({ ...admin, aud: undefined }),
    'ID token': await issuer.token({ ...admin, aud: issuer.clientId, nonce: 'n' }, { header: { typ: 'JWT' } }),
    'ID token for this audience': await issuer.token({ ...admin, nonce: 'n' }, { header: { typ: 'JWT' } }),
    'unsigned token': unsigned({ alg: 'none', typ: 'at+jwt' }),
    'token signed with the public key': await byPublicKey,
  };
  return Object.entries(tokens).map(([name, token]) => bearer(name, 'none', token, null));
}

async function sessions({ stack, issuer, ours }: CredentialParts): Promise<Credential[]> {
  const { base_url: baseUrl } = stack.ready;
  const signIn = (role: Role) => {
    issuer.person = { sub: role, role, org_id: ours.externalId };
    return signedInSession(baseUrl);
  };
  const [viewer, member, admin] = [await signIn('viewer'), await signIn('member'), await signIn('admin')];
  const ended = await signIn('admin');
  const cookieOf = (session: string) => `workflow_session=${session}`;
  await fetch(`${baseUrl}/auth/logout`, { method: 'POST', headers: { cookie: cookieOf(ended), origin: baseUrl } });
  const underWay = await fetch(`${baseUrl}/auth/login`, { redirect: 'manual' });
  const beforeSignIn = underWay.headers.getSetCookie()[0]?.split(';')[0] ?? '';

  const cookie = (name: string, role: Role | null, text: string, origin: string | null = baseUrl): Credential => ({
    name,
    kind: role === null ? 'none' : 'session',
    organization: role === null ? null : 'ours',
    role,
    ...(origin === baseUrl ? {} : { foreignOrigin: true }),
    headers: (unsafe) => ({ cookie: text, ...(unsafe && origin !== null && { origin }) }),
  });
  return [
    cookie("viewer's cookie", 'viewer', cookieOf(viewer)),
    cookie("member's cookie", 'member', cookieOf(member)),
    cookie("admin's cookie", 'admin', cookieOf(admin)),
    cookie("admin's cookie from a foreign page", 'admin', cookieOf(admin), 'https://elsewhere.example'),
    cookie("admin's cookie from nowhere", 'admin', cookieOf(admin), null),
    cookie('cookie of an ended session', null, cookieOf(ended)),
    cookie('cookie of a sign-in under way', null, beforeSignIn),
    cookie('garbled cookie', null, cookieOf('garbage')),
  ];
}

async function keys({ stack, ours, theirs }: CredentialParts): Promise<Credential[]> {
  const revoked = await secondKey(stack);
  await stack.registry.revokeServiceKey({ orgId: revoked.orgId, keyId: revoked.keyId, doer: TEST_DOER });
  const { key } = ours;
  const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
  const basic = { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
  const theirKey = bearer('their service key', 'service key', theirs.key, 'member');
  return [
    bearer('service key', 'service key', key, 'member'),
    bearer("service key's auth part", 'service key', ours.keyAuthPart, 'member'),
    { ...theirKey, organization: 'theirs' },
    bearer('revoked service key', 'none', revoked.key, null),
    bearer('unknown service key', 'none', createServiceKey().key, null),
    bearer('service key with a wrong checksum', 'none', mistyped, null),
    { ...bearer('service key as a password', 'none', key, null), headers: () => basic },
  ];
}

function uploadTokens({ ours, theirs }: CredentialParts): Credential[] {
  const token = (name: string, value: string, organization: 'ours' | 'theirs' | null): Credential => {
    const headers = { authorization: `WorkflowUpload ${value}` };
    const kind = organization === null ? 'none' : 'upload token';
    return { name, kind, organization, role: null, headers: () => headers };
  };
  return [
    token("an upload's token", ours.uploadToken, 'ours'),
    token("their upload's token", theirs.uploadToken, 'theirs'),
    token('token of a link that has run out', ours.expiredUploadToken, null),
    token('unknown upload token', newOpaqueToken(), null),
    {
      ...token("upload's token as a bearer", '', null),
      headers: () => ({ authorization: `Bearer ${ours.uploadToken}` }),
    },
  ];
}

function bearer(name: string, kind: CredentialKind, token: string, role: Role | null): Credential {
  const headers = { authorization: `Bearer ${token}` };
  return { name, kind, role, organization: kind === 'none' ? null : 'ours', headers: () => headers };
}
