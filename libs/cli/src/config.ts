// What the command reads of its environment. Every variable may be a secret that some method declares.

export interface Config {
  /** Colours are allowed as far as the environment says; a stream that is no terminal gets none anyway. */
  readonly color: boolean;
  /** PATH of the steps. */
  readonly path: string;
  readonly lang: string | undefined;
  /** Where caches of this user stand; null: nowhere is known. */
  readonly cacheDir: string | null;
  readonly variables: ReadonlyMap<string, string>;
}

export function readConfig(source: Readonly<Record<string, string | undefined>> = process.env): Config {
  const variables = new Map<string, string>();
  for (const [name, value] of Object.entries(source)) if (value !== undefined) variables.set(name, value);
  const set = (name: string) => (variables.get(name) ?? '') !== '';
  const home = variables.get('HOME') ?? variables.get('USERPROFILE');
  return {
    // https://no-color.org: present and not empty.
    color: !set('NO_COLOR') && variables.get('TERM') !== 'dumb',
    path: variables.get('PATH') ?? '/usr/local/bin:/usr/bin:/bin',
    lang: variables.get('LANG'),
    cacheDir: variables.get('XDG_CACHE_HOME') || (home ? `${home}/.cache` : null),
    variables,
  };
}
