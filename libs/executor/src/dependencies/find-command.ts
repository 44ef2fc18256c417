// Finds programs on PATH.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { StepFailure } from '../step-failure.ts';

/** Returns the absolute path of the program; null: there is none. Relative folders of PATH differ between processes. */
export function commandOn(path: string, name: string): string | null {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not here.
    }
  }
  return null;
}

/** Absolute path of the program. Throws StepFailure of kind dependency where there is none. */
export function findCommand(path: string, name: string): string {
  const file = commandOn(path, name);
  if (file === null) throw new StepFailure('dependency', `The command ${name} is not on the worker's PATH`);
  return file;
}
