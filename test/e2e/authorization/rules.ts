// What every cell of the matrix expects, from few rules: which credentials a surface takes, whom a role lets in, and
// whose object a request names.
import type { Role, RunningRoute, Surface } from './running-routes.ts';

export type CredentialKind = 'machine token' | 'mcp token' | 'session' | 'service key' | 'upload token' | 'none';
/** `another kind`: ids that are there, of something else than is asked for. */
export type Whose = 'ours' | 'theirs' | 'missing' | 'another kind';

export interface Credential {
  readonly name: string;
  /** `none`: what no surface takes, however it looks. */
  readonly kind: CredentialKind;
  /** Null: it belongs to none. */
  readonly organization: 'ours' | 'theirs' | null;
  readonly role: Role | null;
  /** Only from a page of this server may a cookie change something. */
  readonly foreignOrigin?: true;
  /** As sent, `unsafe` with a method that changes something. */
  headers(unsafe: boolean): Readonly<Record<string, string>>;
}

/** `as anybody`: a public route answers every credential as it answers none. */
export type Verdict = 'as anybody' | 'unauthorized' | 'forbidden' | 'not found' | 'allowed';

const TAKES: Readonly<Record<Exclude<Surface, 'public'>, readonly CredentialKind[]>> = {
  service: ['service key', 'machine token'],
  cli: ['machine token'],
  api: ['machine token', 'mcp token', 'session'],
  mcp: ['mcp token'],
  upload: ['upload token'],
};
const ROLES: readonly Role[] = ['viewer', 'member', 'admin'];

/** `whose` null: the request names no object. `closed`: the object takes nothing any more, from any caller. */
export function verdictOf(
  route: RunningRoute,
  credential: Credential,
  { whose, closed }: { readonly whose: Whose | null; readonly closed: boolean },
): Verdict {
  const { surface, access } = ruleOf(route);
  if (surface === 'public') return 'as anybody';
  if (!TAKES[surface].includes(credential.kind)) return 'unauthorized';
  // An upload's token is only for that upload, and is not a credential for any other path.
  if (surface === 'upload') return !closed && credential.organization === whose ? 'allowed' : 'unauthorized';
  if (credential.foreignOrigin && isUnsafe(route.method)) return 'forbidden';
  if (credential.organization === null || !mayUse(credential.role, access)) return 'forbidden';
  return whose === null || whose === credential.organization ? 'allowed' : 'not found';
}

/** The required properties of a route, by its place and effect. */
export function ruleOf({
  method,
  url,
}: Pick<RunningRoute, 'method' | 'url'>): Pick<RunningRoute, 'surface' | 'access'> {
  const surface = surfaceOf(url);
  return { surface, access: surface === 'public' || surface === 'upload' ? null : roleFor(method, url) };
}

function surfaceOf(url: string): Surface {
  if (/^\/v1\//.test(url)) return 'service';
  if (/^\/api\/cli\//.test(url)) return 'cli';
  if (url === '/mcp') return 'mcp';
  if (url === '/api/workflow-uploads/:id/content') return 'upload';
  return /^\/api\//.test(url) ? 'api' : 'public';
}

/**
 * Viewers read, members work, admins have keys, endpoints, settings, members and the audit log. Whom a question asks may
 * be a viewer: its run decides.
 */
function roleFor(method: string, url: string): Role {
  // Each tool has its own role.
  if (url === '/mcp') return 'viewer';
  if (/^\/api\/questions\b/.test(url) || /\/runs\/:id\/answer$/.test(url)) return 'viewer';
  if (/^\/api\/(keys|endpoints|audit)\b/.test(url)) return 'admin';
  // A sealed start is read to run it again.
  if (/\/runs\/:id\/start$/.test(url)) return 'member';
  if (!isUnsafe(method) || url.endsWith('/validate')) return 'viewer';
  return /^\/api\/(settings|members)\b/.test(url) ? 'admin' : 'member';
}

export function isUnsafe(method: string): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method);
}

function mayUse(role: Role | null, needed: Role | null): boolean {
  if (role === null || needed === null) throw new Error('a route or a credential without a role');
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
