// Where a person signs in, and comes back to the page they are on.

const PATH_LENGTH_MAX = 2_000;

/** `another`: the issuer asks who signs in, even if it knows. `returnTo`: a path of this server. */
export function signInAddress({ another = false, returnTo = here() } = {}): string {
  const query = new URLSearchParams({ return_to: returnTo, ...(another && { another: 'true' }) });
  return `/auth/login?${query}`;
}

function here(): string {
  const { pathname, search } = window.location;
  const path = pathname + search;
  return path.length <= PATH_LENGTH_MAX ? path : pathname;
}
