// Chooses how steps are isolated from the machine: in a sandbox of bubblewrap if that works, else only by process
// groups, clean environments and separate folders. See docs/isolation.md.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { RUNNER_DIR } from './runners/runner-launch.ts';
import { probeArguments } from './runners/sandbox-command.ts';
import { newStepUser, userRefusal } from './runners/step-user.ts';

export type Isolation =
  /**
   * `command`: bubblewrap's absolute path. `setpriv`: its absolute path, if steps run as separate users; null: they run
   * as the worker's.
   */
  | { readonly level: 'sandbox'; readonly command: string; readonly setpriv: string | null; readonly text: string }
  | { readonly level: 'group'; readonly text: string };

const PROBE_MS_MAX = 5000;
const SETPRIV_PLACES = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv'];
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
  const setpriv = SETPRIV_PLACES.find((file) => existsSync(file));
  const refusal = userRefusal() ?? (setpriv === undefined ? 'setpriv is not installed' : null);
  if (refusal === null && setpriv !== undefined && tried(command, path, setpriv) === null) {
    return { level: 'sandbox', command, setpriv, text: `Steps run in a sandbox (${command}), as users of their own` };
  }
  const fault = tried(command, path, null);
  if (fault !== null) return without(`bubblewrap does not work here: ${fault}`);
  const isRoot = process.getuid?.() === 0;
  const asRoot = isRoot ? `, as root without its rights: ${refusal ?? 'another user cannot be taken here'}` : '';
  return { level: 'sandbox', command, setpriv: null, text: `Steps run in a sandbox (${command})${asRoot}` };
}

/**
 * Null: it works. Finding it is not enough: many containers and kernels refuse the namespaces or the mount of /proc.
 */
function tried(command: string, path: string, setpriv: string | null): string | null {
  const user = setpriv === null ? null : newStepUser(setpriv);
  const args = [...probeArguments(user, RUNNER_DIR), 'test', '-r', '/tmp/readable/node-runner.mjs'];
  const { status, stderr, error } = spawnSync(command, args, {
    timeout: PROBE_MS_MAX,
    encoding: 'utf8',
    env: { PATH: path },
    stdio: ['ignore', 'pipe', 'pipe', 'ignore', 'pipe'],
  });
  if (status === 0) return null;
  const reason = (stderr ?? '').trim().split('\n')[0] ?? '';
  return reason || error?.message || `exit code ${status}`;
}

function without(reason: string): Isolation {
  return { level: 'group', text: `Steps run without a sandbox: ${reason}` };
}
