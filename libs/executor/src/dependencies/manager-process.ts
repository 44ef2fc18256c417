// One run of a package manager: a process group that ends with its deadline, its signal or this process.
import { spawn } from 'node:child_process';
import { GroupReaper } from '../runners/group-reaper.ts';

export interface ManagerEnd {
  /** Null: it was ended, or could not be started. */
  readonly code: number | null;
  readonly stdout: string;
  /** The end of its output on stderr. */
  readonly stderr: string;
}

export interface ManagerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const STDOUT_BYTES_MAX = 16 * 1024 * 1024;
const STDERR_BYTES_KEPT = 64 * 1024;

/** Never rejects. Output beyond 16 MiB ends the process. */
export function runManager({ command, args, cwd, env }: ManagerCommand, signal: AbortSignal): Promise<ManagerEnd> {
  return new Promise((resolve) => {
    // First, so that a killed worker never leaves the group running.
    const reaper = new GroupReaper(env.PATH ?? '');
    const child = spawn(command, [...args], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    if (child.pid !== undefined) reaper.started(child.pid);
    const kill = () => {
      // Its own group: scripts of packages end too.
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
    };
    const stdout: Buffer[] = [];
    let stdoutBytes = 0;
    let stderr = Buffer.alloc(0);
    child.stdout.on('data', (chunk: Buffer) => {
      stdoutBytes += chunk.length;
      if (stdoutBytes > STDOUT_BYTES_MAX) kill();
      else stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-STDERR_BYTES_KEPT);
    });
    // Processes it left running hold its pipes open, and `close` would never come.
    child.once('exit', kill);
    const end = (code: number | null) => {
      signal.removeEventListener('abort', kill);
      if (child.pid !== undefined) reaper.ended(child.pid);
      void reaper.stop();
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: stderr.toString() });
    };
    child.once('error', () => end(null));
    child.once('close', end);
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill, { once: true });
  });
}
