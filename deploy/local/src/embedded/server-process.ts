// Runs a server as a child process: output to a log file, an orderly stop that ends in SIGKILL, and a guard that ends
// it when this process dies unexpectedly.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StackError } from './stack-error.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  readonly pid: number;
  /** Settles once, when the process is gone; never rejects. */
  readonly exited: Promise<Exit>;
  readonly running: boolean;
  /** Asks with `signal`, then with SIGKILL after `graceMs`; resolves when the process is gone. */
  stop(signal: NodeJS.Signals, graceMs: number): Promise<Exit>;
  /** The process's log since it was started, at most the last 16 KiB. */
  logTail(): string;
}

interface ServerCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Text in the server's command line that no other process has: its folder. */
  readonly marker: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
  /** Folder that the guard removes if this process dies; for tests. */
  readonly removeOnParentDeath?: string;
}

const LOG_TAIL_BYTES = 16 * 1024;

/** Throws StackError when the log cannot be written or the command cannot be run. */
export async function startServerProcess(server: ServerCommand): Promise<ServerProcess> {
  const log = openLog(server);
  const logStart = statSync(server.logFile).size;
  let child: ChildProcess;
  try {
    // Its own process group, so that Ctrl-C in a terminal reaches only us, and we stop our parts in order.
    child = spawn(server.command, server.args, {
      stdio: ['ignore', log, log],
      detached: true,
      ...(server.env && { env: server.env }),
      ...(server.uid !== undefined && { uid: server.uid }),
      ...(server.gid !== undefined && { gid: server.gid }),
    });
  } finally {
    closeSync(log);
  }
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(new StackError('start_failed', `${server.name} could not be started: ${error.message}.`)),
    );
  });
  const pid = child.pid as number;
  const guard = guardAgainstParentDeath({
    pid,
    marker: server.marker,
    ...(server.removeOnParentDeath && { removeFolder: server.removeOnParentDeath }),
  });
  let running = true;
  void exited.then(() => {
    running = false;
    guard.serverEnded();
  });
  child.unref();

  return {
    pid,
    exited,
    get running() {
      return running;
    },
    async stop(signal, graceMs) {
      if (!running) return exited;
      child.ref();
      child.kill(signal);
      const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      const exit = await exited;
      clearTimeout(killer);
      return exit;
    },
    logTail() {
      const written = readFileSync(server.logFile).subarray(logStart);
      return written.subarray(-LOG_TAIL_BYTES).toString('utf8');
    },
  };
}

function openLog(server: ServerCommand): number {
  try {
    mkdirSync(dirname(server.logFile), { recursive: true });
    return openSync(server.logFile, 'a', 0o600);
  } catch (error) {
    throw new StackError('folder_unusable', `The log file ${server.logFile} cannot be written.`, { cause: error });
  }
}

// Ends a server, and removes its folder if requested, when this process dies in any way, even by SIGKILL. A small shell
// in its own session waits on a pipe whose other end only this process holds: the kernel closes it at its death. (The
// kernel's own parent-death signal is lost where `unshare` changes credentials, and could not remove a folder.)
interface ParentGuard {
  /** The server is gone, so nothing needs to be ended. A folder to be removed still is, when this process ends. */
  serverEnded(): void;
}

interface GuardOptions {
  readonly pid: number;
  /** Text in the server's command line: a reused process id is not touched. */
  readonly marker: string;
  readonly removeFolder?: string;
}

// $1 pid, $2 marker, $3 folder or empty. A line read means that the server ended in order.
const SCRIPT = `
pid=$1; marker=$2; folder=$3; ended=
while read -r line; do ended=yes; done
alive() {
  if [ -d /proc/self ]; then tr '\\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -e "$marker"
  else ps -o args= -p "$pid" 2>/dev/null | grep -qF -e "$marker"; fi
}
if [ -z "$ended" ] && alive; then
  [ -n "$folder" ] && kill -KILL "$pid" || kill -INT "$pid"
  tries=0
  while alive; do
    tries=$((tries + 1)); [ $tries -eq 100 ] && kill -KILL "$pid"; [ $tries -gt 200 ] && break
    sleep 0.05
  done
fi
# Backends outlive a killed postmaster for an instant and may still write below the folder.
if [ -n "$folder" ]; then
  tries=0
  while ! rm -rf -- "$folder" 2>/dev/null; do tries=$((tries + 1)); [ $tries -gt 100 ] && break; sleep 0.05; done
fi
`;

export function guardAgainstParentDeath(options: GuardOptions): ParentGuard {
  const shell = spawn(
    '/bin/sh',
    ['-c', SCRIPT, 'server-guard', String(options.pid), options.marker, options.removeFolder ?? ''],
    { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' },
  );
  // A guard that cannot start or is gone affects nothing else.
  shell.once('error', () => {});
  shell.stdin.once('error', () => {});
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return {
    serverEnded() {
      if (options.removeFolder === undefined) shell.stdin.end('ended\n');
      else shell.stdin.write('ended\n');
    },
  };
}
