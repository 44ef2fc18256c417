// Which hosts an organization lets its webhooks go to.

/**
 * `host`: as returned by the URL parser, in lower case and without a trailing dot. A listed name matches itself,
 * `*.example.com` every name below example.com but not example.com. An empty list allows all.
 */
export function allowsHost(hosts: readonly string[], host: string): boolean {
  return hosts.length === 0 || hosts.some((listed) => covers(canonicalHost(listed), host));
}

/** The form of a host name that is compared. */
export function canonicalHost(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function covers(listed: string, host: string): boolean {
  return listed.startsWith('*.') ? host.endsWith(listed.slice(1)) && host.length > listed.length - 1 : host === listed;
}
