// The working folder of each step: the same place every time, empty at the start of each.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export class WorkFolder {
  constructor(dir) {
    this.dir = dir;
  }

  /** Cheap when the step before left nothing, which is the rule: one listing, and no call when already inside. */
  enter() {
    try {
      for (const name of readdirSync(this.dir)) rmSync(join(this.dir, name), { recursive: true, force: true });
    } catch {
      this.forceClean();
    }
    if (process.cwd() !== this.dir) process.chdir(this.dir);
  }

  /** The step before removed the folder itself, or took away the rights to it or to something in it. */
  forceClean() {
    process.chdir('/');
    mkdirSync(this.dir, { recursive: true });
    execFileSync('chmod', ['-R', 'u+rwx', this.dir], { stdio: 'ignore' });
    for (const name of readdirSync(this.dir)) rmSync(join(this.dir, name), { recursive: true, force: true });
  }
}
