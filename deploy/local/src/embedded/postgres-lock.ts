// Whether a Postgres cluster folder is free. After SIGKILL the lock file stays behind, and its process id may since
// belong to something else, which would block a restart forever; backends live on for an instant and still write.
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from './stack-error.ts';

const ORPHANS_WAIT_MS = 10_000;

/** Resolves when nothing uses the cluster and no lock file is left; throws StackError `folder_in_use` otherwise. */
export async function freeClusterFolder(cluster: string): Promise<void> {
  const lockFile = join(cluster, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  // Without /proc we cannot know more than Postgres itself finds out.
  if (!existsSync('/proc/self')) return;
  const postmaster = Number(readFileSync(lockFile, 'utf8').split('\n')[0]);
  const deadline = performance.now() + ORPHANS_WAIT_MS;
  for (;;) {
    const users = processesIn(cluster);
    if (users.length === 0) break;
    if (users.includes(postmaster) || performance.now() > deadline) {
      throw new StackError(
        'folder_in_use',
        `Another Postgres (process ${users[0]}) already runs on ${cluster}: stop it first.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  rmSync(lockFile, { force: true });
}

/** Ids of the processes whose working folder is `folder`: every Postgres process enters its cluster's. */
function processesIn(folder: string): number[] {
  const real = realpathSync(folder);
  const found: number[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) === real) found.push(Number(entry));
    } catch {
      // Gone meanwhile, or another user's.
    }
  }
  return found;
}
