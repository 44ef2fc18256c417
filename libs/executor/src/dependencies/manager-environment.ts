// The part of the worker's environment that npm and pip see: their own settings, proxies and certificates. The rest may
// be secrets of methods, which packages' own code could read.
import type { PrepareOptions } from './prepare-options.ts';

const SETTINGS =
  /^(npm_config_.+|PIP_\w+|https?_proxy|no_proxy|all_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|HOME|USERPROFILE|XDG_(CONFIG_HOME|CONFIG_DIRS|CACHE_HOME)|SYSTEMROOT)$/i;
/** The settings that are ours, such as where pip installs to. */
const OURS =
  /^(PIP_(TARGET|PREFIX|ROOT|USER|DRY_RUN|REPORT|REQUIREMENT|CONSTRAINT|NO_DEPS|REQUIRE_HASHES|PYTHON|EDITABLE)|npm_config_(global|prefix|dry_run|omit|workspaces?|package_lock(_only)?))$/i;
const CREDENTIAL_NAME = /auth|token|pass|secret|key$/i;
const SHORTEST_MASKED = 4;

/** `home`: HOME where the worker has none. */
export function managerEnvironment({ host, path }: PrepareOptions, home: string): Record<string, string> {
  const settings = [...host].filter(([name]) => SETTINGS.test(name) && !OURS.test(name));
  return { HOME: home, ...Object.fromEntries(settings), PATH: path, LANG: 'C.UTF-8' };
}

/** Removes the credentials of the settings, and those in addresses, from a package manager's output. */
export function withoutCredentials(text: string, host: ReadonlyMap<string, string>): string {
  let masked = text.replace(/(\/\/)[^/@\s]+@/g, '$1***@');
  for (const [name, value] of host) {
    if (!SETTINGS.test(name)) continue;
    const inAddresses = [...value.matchAll(/\/\/(?:[^/@:\s]*:)?([^/@\s]+)@/g)].map((found) => found[1] ?? '');
    for (const secret of CREDENTIAL_NAME.test(name) ? [value, ...inAddresses] : inAddresses) {
      if (secret.length >= SHORTEST_MASKED) masked = masked.replaceAll(secret, '***');
    }
  }
  return masked;
}
