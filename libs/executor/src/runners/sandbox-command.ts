// The bubblewrap command around a step's process: it sees the runtime, its prepared dependencies and its exchange
// folder, and nothing else of the machine's files, processes and, where it may not, network.
import { existsSync, lstatSync, readlinkSync } from 'node:fs';

export interface Sandbox {
  /** Exchange folder, writable; `in` below it is not. */
  readonly folder: string;
  /** Further files and folders to read. */
  readonly readable: readonly string[];
  /** PATH of the step: its folders are readable too. */
  readonly path: string;
  readonly network: boolean;
}

const SYSTEM_LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** What programs look up, without what tells of the machine's users, services and keys (shadow, ssh, cron). */
const ETC = [
  'alternatives',
  'ca-certificates',
  'ca-certificates.conf',
  'fonts',
  'gai.conf',
  'group',
  'host.conf',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'passwd',
  'pki',
  'protocols',
  'resolv.conf',
  'services',
  'ssl',
  'terminfo',
];

/** Arguments of bubblewrap up to and with `--`; the command follows. */
export function sandboxArguments({ folder, readable, path, network }: Sandbox): string[] {
  const args = ['--unshare-user-try', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  if (!network) args.push('--unshare-net');
  // The sandbox dies with the worker, whatever the step does with signals.
  args.push('--die-with-parent', '--cap-drop', 'ALL', '--hostname', 'step');
  args.push('--ro-bind', '/usr', '/usr');
  for (const link of SYSTEM_LINKS) args.push(...systemFolder(link));
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  args.push('--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp');
  const outside = [...readable, ...path.split(':').map(whole)].filter(
    (it) => it.startsWith('/') && !isBelow(it, '/usr'),
  );
  for (const place of new Set(outside.filter((it) => it !== '/' && existsSync(it)))) {
    args.push('--ro-bind', place, place);
  }
  args.push('--bind', folder, folder, '--ro-bind', `${folder}/in`, `${folder}/in`);
  // The worker's own settings are another process's environment: /proc of the sandbox shows only the step's.
  args.push('--chdir', `${folder}/work`, '--');
  return args;
}

/**
 * pyenv, rbenv and the like put scripts into `<their folder>/shims` that start programs of the folder beside it: alone
 * they would say that it is not there.
 */
function whole(folder: string): string {
  return folder.replace(/^(\/.+)\/shims\/?$/, '$1');
}

function systemFolder(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function isBelow(path: string, folder: string): boolean {
  return (
    path === folder ||
    path.startsWith(`${folder}/`) ||
    SYSTEM_LINKS.some((it) => path.startsWith(`${it}/`) || path === it)
  );
}
