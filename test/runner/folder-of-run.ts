// The folder in which all tests of a run make theirs.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '@methods/base/running-process';
import { hasMemoryFor, IN_MEMORY } from '../harness/temp-folder.ts';

const OF_RUN = /^methods-tests-(\d+)-/;

/**
 * In memory, like a `quickFolder`: on a disk a nats-server takes several times the processor for the files it makes and
 * removes. Null where memory has too little room, or where no programs run from it: a venv has some.
 */
export function folderOfRun(bytes: number): string | null {
  if (!hasMemoryFor(bytes)) return null;
  for (const name of readdirSync(IN_MEMORY)) {
    // Left by a killed run.
    const pid = Number(OF_RUN.exec(name)?.[1]);
    if (pid > 0 && !isRunning(pid)) removeFolder(join(IN_MEMORY, name));
  }
  const folder = realpathSync(mkdtempSync(join(IN_MEMORY, `methods-tests-${process.pid}-`)));
  // As in the usual folder: servers and steps of other users reach what is theirs.
  chmodSync(folder, 0o1777);
  if (runsPrograms(folder)) return folder;
  rmSync(folder, { recursive: true });
  return null;
}

/** What cannot be removed stays: another user's, or one with a file system that a killed test has mounted. */
export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {}
}

function runsPrograms(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}
