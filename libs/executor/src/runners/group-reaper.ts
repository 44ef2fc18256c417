// Ends process groups together with the process that started them: runners (which exit when their pipe closes, but not
// from an endless loop) and package managers. A small shell that outlives a killed worker ends the remaining groups and
// removes the folder that served them.
import { type ChildProcess, spawn } from 'node:child_process';

// Reads lines "+ GROUP" and "- GROUP"; at the end of input it kills every group still listed.
const SCRIPT = `groups=
while read -r op group; do
  rest=
  for g in $groups; do [ "$g" = "$group" ] || rest="$rest $g"; done
  [ "$op" = + ] && rest="$rest $group"
  groups=$rest
done
for g in $groups; do kill -KILL "-$g"; done
[ -z "$1" ] || rm -rf "$1"`;

export class GroupReaper {
  private readonly shell: ChildProcess;
  private readonly gone: Promise<void>;

  /** `path`: the PATH on which the shell is found. Removes `folder` when this process is gone, or with `stop`. */
  constructor(path: string, folder = '') {
    // Detached: an interrupt from the terminal goes to the worker's group and must not end the reaper first.
    this.shell = spawn('sh', ['-c', SCRIPT, 'reaper', folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: path },
      cwd: '/',
    });
    this.shell.stdin?.on('error', () => {});
    this.gone = new Promise((resolve) => {
      this.shell.on('close', () => resolve());
      this.shell.on('error', () => resolve());
    });
    this.shell.unref();
  }

  started(group: number): void {
    this.shell.stdin?.write(`+ ${group}\n`);
  }

  ended(group: number): void {
    this.shell.stdin?.write(`- ${group}\n`);
  }

  /** Resolves when the remaining groups have ended and the folder is removed. */
  stop(): Promise<void> {
    this.shell.ref();
    this.shell.stdin?.end();
    return this.gone;
  }
}
