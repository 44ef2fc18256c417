// Names that this machine resolves itself: localhost, its hosts file, and the domains it adds to short names. They are
// read like the system's resolver reads them, which cannot be called without occupying a thread.
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Clock } from '@methods/base/clock';
import type { ResolvedAddress } from './host-resolver.ts';

const HOSTS_FILE = '/etc/hosts';
const RESOLVER_FILE = '/etc/resolv.conf';
const FRESH_MS = 5_000;
const FILE_LENGTH_MAX = 1 << 20;
const SEARCH_MAX = 8;
const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

interface Files {
  readonly hosts: ReadonlyMap<string, readonly ResolvedAddress[]>;
  readonly search: readonly string[];
  readonly ndots: number;
}

export interface LocalNamesOptions {
  readonly clock: Clock;
  readonly hostsFile?: string;
  readonly resolverFile?: string;
}

export class LocalNames {
  private files: Promise<Files> | null = null;
  private untilMs = 0;

  constructor(private readonly options: LocalNamesOptions) {}

  /** Null: ask a name server. */
  async addressesOf(name: string): Promise<readonly ResolvedAddress[] | null> {
    const { hosts } = await this.read();
    return hosts.get(name) ?? (isLocalhost(name) ? LOOPBACK : null);
  }

  /** Returns the full names to ask for, in order. */
  async fullNamesOf(name: string): Promise<readonly string[]> {
    const { search, ndots } = await this.read();
    const longer = search.map((domain) => `${name}.${domain}`);
    return name.split('.').length - 1 >= ndots ? [name, ...longer] : [...longer, name];
  }

  private read(): Promise<Files> {
    const { clock, hostsFile = HOSTS_FILE, resolverFile = RESOLVER_FILE } = this.options;
    const nowMs = clock.monotonicMs();
    if (this.files === null || this.untilMs <= nowMs) {
      this.files = Promise.all([textOf(hostsFile), textOf(resolverFile)]).then(([hosts, resolver]) => ({
        hosts: hostsOf(hosts),
        ...searchOf(resolver),
      }));
      this.untilMs = nowMs + FRESH_MS;
    }
    return this.files;
  }
}

/** RFC 6761: such a name is never sent to a name server. */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

/** A missing file counts as empty. */
async function textOf(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).slice(0, FILE_LENGTH_MAX);
  } catch {
    return '';
  }
}

/** Returns the words of each line, without its comment. */
function linesOf(text: string, comment: RegExp): string[][] {
  return text.split('\n').map((line) =>
    line
      .replace(comment, '')
      .split(/\s+/)
      .filter((word) => word !== ''),
  );
}

function hostsOf(text: string): Map<string, ResolvedAddress[]> {
  const hosts = new Map<string, ResolvedAddress[]>();
  for (const [address = '', ...names] of linesOf(text, /#.*/)) {
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase()) ?? [];
      hosts.set(name.toLowerCase(), [...known, { address, family }]);
    }
  }
  return hosts;
}

function searchOf(text: string): { search: string[]; ndots: number } {
  let search: string[] = [];
  let ndots = 1;
  for (const [word, ...rest] of linesOf(text, /[#;].*/)) {
    if (word === 'search') search = rest.slice(0, SEARCH_MAX).map((domain) => domain.replace(/\.$/, ''));
    if (word === 'domain' && search.length === 0) search = rest.slice(0, 1);
    const option = word === 'options' ? rest.find((each) => /^ndots:\d+$/.test(each)) : undefined;
    if (option !== undefined) ndots = Number(option.slice('ndots:'.length));
  }
  return { search: search.filter((domain) => domain !== ''), ndots };
}
