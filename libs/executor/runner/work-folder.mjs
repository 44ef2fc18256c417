// The working folder of each step: the same place every time, empty at the start of each.
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export class WorkFolder {
  constructor(dir) {
    this.dir = dir;
  }

  /** Cheap when the step before left nothing, which is the rule: one listing, and no call when already inside. */
  enter() {
    let left;
    try {
      left = readdirSync(this.dir);
    } catch {
      // The step before removed or locked the folder itself.
      mkdirSync(this.dir, { recursive: true });
      chmodSync(this.dir, 0o700);
      process.chdir('/');
      left = readdirSync(this.dir);
    }
    for (const name of left) rmSync(join(this.dir, name), { recursive: true, force: true });
    if (process.cwd() !== this.dir) process.chdir(this.dir);
  }
}
