// Postgres refuses to run as root. As root it gets another user id without a new OS user: in a user namespace, where
// files remain root's own and any folder works, or, where namespaces are forbidden (many containers), as the user
// `nobody`, which needs binaries and data in a folder that it may enter.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresBinaries, postgresBinariesBelow } from './postgres-binaries.ts';
import { StackError } from './stack-error.ts';

export type IdentityWay = 'self' | 'namespace' | 'nobody';

export interface PostgresIdentity {
  readonly way: IdentityWay;
  readonly binaries: PostgresBinaries;
  /** Folder for the cluster and short-lived files: the data folder, or its replacement that `nobody` may enter. */
  readonly folder: string;
  /** Shown to the person when data is stored elsewhere than requested. */
  readonly notice?: string;
  /** Returns the command line that runs `binary` under this identity and replaces itself (the process id stays). */
  command(binary: string, args: readonly string[]): { command: string; args: string[]; uid?: number; gid?: number };
  /** Gives a file or folder that we created to the identity. */
  give(path: string): void;
}

const UNSHARE = ['--user', '--map-user=1000', '--map-group=1000'];
const STAND_IN_PARENT = '/var/lib/methods-local-postgres';

/** `forced` is for tests. Throws StackError when no way works. */
export function choosePostgresIdentity(
  dataDir: string,
  binaries: PostgresBinaries,
  forced?: IdentityWay,
): PostgresIdentity {
  const way = forced ?? (process.getuid?.() === 0 ? rootWay(dataDir, binaries) : 'self');
  if (way === 'nobody') return asNobody(dataDir, binaries);
  const base = { way, binaries, folder: dataDir, give: () => {} };
  if (way === 'self') return { ...base, command: (binary, args) => ({ command: binary, args: [...args] }) };
  return { ...base, command: (binary, args) => ({ command: 'unshare', args: [...namespaceArgs(), binary, ...args] }) };
}

function rootWay(dataDir: string, binaries: PostgresBinaries): IdentityWay {
  // Also fails when a parent folder belongs to another user and is closed: root's id without root's capabilities may
  // not enter.
  const script = '[ -w "$1" ] && exec "$2" --version';
  const tried = spawnSync('unshare', [...namespaceArgs(), '/bin/sh', '-c', script, 'sh', dataDir, binaries.initdb]);
  return tried.status === 0 ? 'namespace' : 'nobody';
}

/** initdb looks its user up in the password file: 1000 if there is such a user, else `nobody`. */
function namespaceArgs(): string[] {
  if (passwdLine((fields) => fields[2] === '1000')) return UNSHARE;
  const nobody = nobodyIds();
  return ['--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`];
}

function asNobody(dataDir: string, installed: PostgresBinaries): PostgresIdentity {
  const { uid, gid } = nobodyIds();
  const folder = join(STAND_IN_PARENT, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
  try {
    // A new data folder must not find the replacement's old cluster.
    if (!existsSync(join(dataDir, 'password'))) rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    chmodSync(STAND_IN_PARENT, 0o755);
    chownSync(folder, uid, gid);
    chmodSync(folder, 0o700);
  } catch (error) {
    throw new StackError(
      'folder_unusable',
      `Postgres cannot run as root, and the folder ${folder} for running it as the user "nobody" cannot be made.`,
      { cause: error },
    );
  }
  return {
    way: 'nobody',
    binaries: enterableBinaries(installed, uid, gid),
    folder,
    notice: `Postgres runs as the user "nobody" with its data in ${folder}, since this machine allows root no user namespaces.`,
    command: (binary, args) => ({ command: binary, args: [...args], uid, gid }),
    give: (path) => chownSync(path, uid, gid),
  };
}

/** The installed ones if `nobody` may run them, else a copy made once. */
function enterableBinaries(installed: PostgresBinaries, uid: number, gid: number): PostgresBinaries {
  if (spawnSync(installed.initdb, ['--version'], { uid, gid, cwd: '/' }).status === 0) return installed;
  const version = spawnSync(installed.initdb, ['--version'], { encoding: 'utf8' }).stdout.replace(/[^0-9.]/g, '');
  const copy = join(STAND_IN_PARENT, `binaries-${version}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    cpSync(installed.root, partial, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(partial, copy);
    } catch {
      // Another start was first: its copy is equivalent.
      rmSync(partial, { recursive: true, force: true });
    }
  }
  return postgresBinariesBelow(copy);
}

function nobodyIds(): { uid: number; gid: number } {
  const fields = passwdLine((candidate) => candidate[0] === 'nobody');
  return { uid: Number(fields?.[2] ?? 65534), gid: Number(fields?.[3] ?? 65534) };
}

function passwdLine(matches: (fields: string[]) => boolean): string[] | undefined {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(matches);
}
