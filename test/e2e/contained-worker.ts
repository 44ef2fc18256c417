// The worker of the container guide without a container engine: the commands of its file in a folder, and its worker
// below a root like that of the image, read-only but for what the guide names, as an ordinary user.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MACHINE_NODE } from '../harness/machine-node.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { containerFile } from './guide-code.ts';
import { type Program, startProgram } from './started-program.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** As the official images number their user. */
const UID = '1000';
const NO_REGISTRY = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|E40[0-9]|ERR_SOCKET_TIMEOUT)\b/;

/** A folder with the packed command and its packages; `missing`: why there is none. */
export async function builtImage(): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const folder = tempFolder('image');
  const { runs } = containerFile();
  const install = runs.find((command) => command.startsWith('npm ')) ?? '';
  await run('npm', ['pack', '--silent', '--workspace', 'libs/cli', '--pack-destination', folder], { cwd: ROOT });
  const env = { ...process.env, npm_config_prefer_offline: 'true' };
  try {
    await run('sh', ['-c', install], { cwd: folder, env });
    return { folder };
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    if (NO_REGISTRY.test(stderr)) return { missing: 'the npm registry cannot be reached' };
    throw error;
  }
}

/** The command of the file, for this method. */
export function commandFor(method: string): string[] {
  return containerFile().command.map((word) => (/^wf_\w+$/.test(word) ? method : word));
}

/** Its environment is only what is given, and what the file sets. */
export function startContained(
  image: string,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Program {
  const { folder, volumes, env: own } = containerFile();
  const variables = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/home/node', ...own, ...env };
  const writable = volumes.flatMap((place) => ['--bind', emptyFolder(place), place]);
  const root = [
    ...['--tmpfs', '/', '--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc'],
    ...['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--ro-bind', image, folder, ...writable],
    ...['--remount-ro', '/', '--unshare-user', '--unshare-pid', '--uid', UID, '--gid', UID],
    ...['--die-with-parent', '--chdir', folder, '--clearenv'],
    ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
  // Process 1 of the container is bubblewrap's, which reaps as `--init` does.
  return startProgram('bwrap', [...root, ...command], { cwd: image, env: { PATH: process.env.PATH } });
}

/** The worker itself, to which a container engine sends its signals. */
export function processOf(method: string): number {
  const found = readdirSync('/proc').find((pid) => {
    try {
      const [program = ''] = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(method) : [];
      return /\bnode\0/.test(program) && program.includes('methods\0worker\0') && !program.startsWith('bwrap');
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error('there is no worker');
  return Number(found);
}

function emptyFolder(place: string): string {
  const folder = join(tempFolder('volume'), place);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Whether this machine can make such a root. */
export async function canContain(): Promise<boolean> {
  const probe = ['--ro-bind', '/', '/', '--unshare-user', '--uid', UID, MACHINE_NODE, '-e', '0'];
  return (
    MACHINE_NODE.startsWith('/usr/') &&
    (await run('bwrap', probe)
      .then(() => true)
      .catch(() => false))
  );
}
