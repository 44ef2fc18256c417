// The environment variables of the command. Every variable may be a secret that some method declares.
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface Config {
  /** Colours are allowed unless the environment forbids them; a stream that is not a terminal gets none anyway. */
  readonly color: boolean;
  /** PATH of the steps. */
  readonly path: string;
  readonly lang: string | undefined;
  /** The folder of this user's caches; null: unknown. */
  readonly cacheDir: string | null;
  /** Where sign-ins are stored, and where running local stacks are found. */
  readonly stateDir: string;
  /** METHODS_SERVER. */
  readonly server: string | null;
  /** SERVICE_API_KEY. */
  readonly serviceKey: string | null;
  /** METHODS_TOKEN_STORE: `file` does not use the system's keyring. */
  readonly keyring: boolean;
  /** Whether a browser can be opened here. */
  readonly display: boolean;
  readonly variables: ReadonlyMap<string, string>;
}

export function readConfig(source: Readonly<Record<string, string | undefined>> = process.env): Config {
  const variables = new Map<string, string>();
  for (const [name, value] of Object.entries(source)) if (value !== undefined) variables.set(name, value);
  const set = (name: string) => (variables.get(name) ?? '') !== '';
  const home = variables.get('HOME') ?? variables.get('USERPROFILE');
  const desktop = process.platform === 'darwin' || process.platform === 'win32';
  return {
    // https://no-color.org: present and not empty.
    color: !set('NO_COLOR') && variables.get('TERM') !== 'dumb',
    path: variables.get('PATH') ?? '/usr/local/bin:/usr/bin:/bin',
    lang: variables.get('LANG'),
    cacheDir: variables.get('XDG_CACHE_HOME') || (home ? `${home}/.cache` : null),
    stateDir: variables.get('XDG_STATE_HOME') || join(home ?? homedir(), '.local', 'state'),
    server: variables.get('METHODS_SERVER') || null,
    serviceKey: variables.get('SERVICE_API_KEY') || null,
    // Linux has a keyring only in a desktop session; querying one elsewhere may wait forever.
    keyring: variables.get('METHODS_TOKEN_STORE') !== 'file' && (desktop || set('DBUS_SESSION_BUS_ADDRESS')),
    display: desktop || set('DISPLAY') || set('WAYLAND_DISPLAY'),
    variables,
  };
}
