// The working folder of each step: the same place every time, empty at the start of each.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export class WorkFolder {
  constructor(dir) {
    this.dir = dir;
  }

  /** Cheap if the previous step left nothing, as usual: one listing, and no call when already inside. */
  enter() {
    try {
      this.#clean();
    } catch {
      this.forceClean();
    }
    if (process.cwd() !== this.dir) process.chdir(this.dir);
  }

  /** The previous step removed the folder itself, or the rights to it or to something in it. */
  forceClean() {
    process.chdir('/');
    mkdirSync(this.dir, { recursive: true });
    execFileSync('chmod', ['-R', 'u+rwx', this.dir], { stdio: 'ignore' });
    try {
      this.#clean();
    } catch {
      // Nested deeper than a path can express.
      const places = readdirSync(this.dir, 'latin1').map((name) => join(this.dir, name));
      execFileSync('rm', ['-rf', '--', ...places], { stdio: 'ignore' });
    }
  }

  /** `buffer`: a name need not be UTF-8. */
  #clean() {
    for (const name of readdirSync(this.dir, 'buffer')) {
      rmSync(Buffer.concat([Buffer.from(`${this.dir}/`), name]), { recursive: true, force: true });
    }
  }
}
