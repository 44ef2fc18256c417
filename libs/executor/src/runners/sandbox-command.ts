// Builds the bubblewrap command around a step's process. The step sees the runtime, its prepared dependencies and its
// exchange folder, but no other files or processes of the machine and, where forbidden, no network.
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { asUser, type StepUser } from './step-user.ts';

export interface Sandbox {
  /** The exchange folder: only its `work` and `code` are writable, and neither can be moved or replaced. */
  readonly folder: string;
  /** More files and folders to read. */
  readonly readable: readonly string[];
  /** PATH of the step: its folders are readable too. */
  readonly path: string;
  readonly network: boolean;
  /** Null: steps run as the worker's own user. */
  readonly user: StepUser | null;
}

/** Where bubblewrap writes the sandbox's first process. The step does not inherit it. */
const INFO_FD = 4;

const SYSTEM_LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/**
 * Files that programs look up, without those that reveal the machine's users, services and keys (shadow, ssh, cron).
 */
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

/** Settings of the machine, which root may write even without capabilities because root owns the files. */
const PROC_READ_ONLY = ['sys', 'sysrq-trigger', 'bus', 'irq', 'fs', 'acpi', 'scsi', 'mtrr', 'driver'];
/** Files that reveal the machine's memory, keys and other users' activity. */
const PROC_HIDDEN = ['kcore', 'keys', 'key-users', 'kmsg', 'latency_stats', 'sched_debug', 'timer_list', 'timer_stats'];

/** Arguments of bubblewrap up to and including `--`, and what else precedes the command. */
export function sandboxArguments({ folder, readable, path, network, user }: Sandbox): string[] {
  const args = [...namespaces(network), ...rights(user), '--hostname', 'step', '--info-fd', String(INFO_FD)];
  // The sandbox dies with the worker, even if the step ignores signals.
  args.push('--die-with-parent', '--ro-bind', '/usr', '/usr');
  for (const link of SYSTEM_LINKS) args.push(...systemFolder(link));
  if (user !== null) args.push('--dir', '/etc');
  for (const name of ETC) args.push('--ro-bind-try', `/etc/${name}`, `/etc/${name}`);
  args.push(...machineFolders(user));
  const outside = [...readable, ...path.split(':').map(whole)].filter(
    (it) => it.startsWith('/') && !isBelow(it, '/usr'),
  );
  const places = [...new Set(outside.filter((it) => it !== '/' && existsSync(it)))];
  // A folder that bubblewrap itself creates above a mount belongs to root and is closed.
  for (const above of user === null ? [] : new Set([...places, folder].flatMap(foldersAbove)))
    args.push('--dir', above);
  for (const place of places) args.push('--ro-bind', place, place);
  // Two writable places, each a mount: a step cannot put a link where the worker expects a folder.
  args.push('--ro-bind', folder, folder);
  for (const name of ['work', 'code']) args.push('--bind', `${folder}/${name}`, `${folder}/${name}`);
  if (user !== null) {
    for (const name of ['passwd', 'group']) args.push('--ro-bind', `${folder}/${name}`, `/etc/${name}`);
  }
  // The worker's settings are in another process's environment: /proc of the sandbox shows only the step's.
  args.push('--chdir', `${folder}/work`, '--');
  return user === null ? args : [...args, ...asUser(user)];
}

/** Tried when a worker starts, with a command appended: the same rights and mounts over a view of all files. */
export function probeArguments(user: StepUser | null, readable: string): string[] {
  const info = ['--info-fd', String(INFO_FD)];
  const args = [...namespaces(false), ...rights(user), ...info, '--ro-bind', '/', '/', ...machineFolders(user)];
  args.push('--ro-bind', readable, '/tmp/readable', '--');
  return user === null ? args : [...args, ...asUser(user)];
}

function namespaces(network: boolean): string[] {
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  return network ? args : [...args, '--unshare-net'];
}

/** Root can become another user directly; other users need a user namespace for all of this. */
function rights(user: StepUser | null): string[] {
  if (user === null) return ['--unshare-user-try', '--cap-drop', 'ALL'];
  // The capabilities that setpriv needs and then drops.
  return ['--cap-drop', 'ALL', ...['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((it) => ['--cap-add', it])];
}

function machineFolders(user: StepUser | null): string[] {
  const args = ['--proc', '/proc'];
  for (const name of PROC_READ_ONLY) args.push('--ro-bind-try', `/proc/${name}`, `/proc/${name}`);
  for (const name of PROC_HIDDEN) if (existsSync(`/proc/${name}`)) args.push('--ro-bind', '/dev/null', `/proc/${name}`);
  args.push('--dev', '/dev');
  // Bubblewrap makes them root's.
  const open = user === null ? [] : ['--perms', '1777'];
  if (user !== null) args.push(...open, '--tmpfs', '/dev/shm');
  return [...args, ...open, '--tmpfs', '/tmp'];
}

/** From the top: the parents of `/a/b/c` are `/a` and `/a/b`. */
function foldersAbove(place: string): string[] {
  const parts = place.split('/').slice(1, -1);
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`);
}

/**
 * pyenv, rbenv and similar tools put scripts into `<their folder>/shims` that start programs of the folder beside it.
 * Without that folder the scripts fail.
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
