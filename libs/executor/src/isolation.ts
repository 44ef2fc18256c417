// How far steps are kept apart from the machine: in a sandbox of bubblewrap where that works, else only by process
// groups, clean environments and folders of their own. See docs/isolation.md.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export type Isolation =
  /** `command`: bubblewrap's absolute path. */
  | { readonly level: 'sandbox'; readonly command: string; readonly text: string }
  | { readonly level: 'group'; readonly text: string };

const PROBE_MS_MAX = 5000;
const PROBE = ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', '--proc', '/proc', '--dev', '/dev', '--'];
const probed = new Map<string, Isolation>();

/** No sandbox, for hosts that switch it off. */
export const NO_SANDBOX: Isolation = { level: 'group', text: 'Steps run without a sandbox: it is switched off' };

/** Tries once for each PATH whether bubblewrap works. `text` is one line for the host to print at its start. */
export function isolationLevel(path: string): Isolation {
  let isolation = probed.get(path);
  if (isolation === undefined) {
    isolation = probe(path);
    probed.set(path, isolation);
  }
  return isolation;
}

function probe(path: string): Isolation {
  if (process.platform !== 'linux') return without('it needs Linux');
  const command = path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => existsSync(file));
  if (command === undefined) return without('bubblewrap (bwrap) is not on PATH');
  // Found is not enough: many containers and kernels refuse the namespaces or the mount of /proc.
  const tried = spawnSync(command, [...PROBE, 'true'], {
    timeout: PROBE_MS_MAX,
    encoding: 'utf8',
    env: { PATH: path },
  });
  if (tried.status === 0) return { level: 'sandbox', command, text: `Steps run in a sandbox (${command})` };
  const reason = (tried.stderr ?? '').trim().split('\n')[0] ?? '';
  return without(`bubblewrap does not work here: ${reason || tried.error?.message || `exit code ${tried.status}`}`);
}

function without(reason: string): Isolation {
  return { level: 'group', text: `Steps run without a sandbox: ${reason}` };
}
