// Signing in with a browser: what remains is the cookie of a session.

/** Goes to the issuer's address and comes back with the one it leads to in the end. */
export type IssuerVisit = (url: string) => Promise<string>;

const atOnce: IssuerVisit = async (url) => locationOf(await fetch(url, { redirect: 'manual' }));

/** The cookie's value. Without `visit` the issuer has to be one that asks nothing. */
export async function signedInSession(baseUrl: string, visit: IssuerVisit = atOnce): Promise<string> {
  const { cookie, callback } = await begunSignIn(baseUrl, visit);
  return sessionIn(await fetch(callback, { redirect: 'manual', headers: { cookie } }));
}

export interface BegunSignIn {
  readonly cookie: string;
  /** Where the issuer sends the person back to. */
  readonly callback: string;
}

export async function begunSignIn(baseUrl: string, visit: IssuerVisit = atOnce): Promise<BegunSignIn> {
  const login = await fetch(`${baseUrl}/auth/login`, { redirect: 'manual' });
  return { cookie: `workflow_session=${sessionIn(login)}`, callback: await visit(locationOf(login)) };
}

function sessionIn(reply: Response): string {
  const value = reply.headers
    .getSetCookie()
    .map((text) => /^workflow_session=([^;]+)/.exec(text)?.[1])
    .findLast((found) => found !== undefined);
  if (value === undefined) throw new Error(`${reply.url} answered ${reply.status} and set no session`);
  return value;
}

function locationOf(reply: Response): string {
  const location = reply.headers.get('location');
  if (location === null) throw new Error(`${reply.url} answered ${reply.status} and leads nowhere`);
  return location;
}
