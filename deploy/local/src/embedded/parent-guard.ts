// Ends a server, and removes its folder if requested, when this process dies in any way, even by SIGKILL. A small shell
// in its own session waits on a pipe whose other end only this process holds: the kernel closes it at its death. (The
// kernel's own parent-death signal is lost where `unshare` changes credentials, and could not remove a folder.)
import { spawn } from 'node:child_process';

export interface ParentGuard {
  /** The server is gone, so nothing needs to be ended. A folder to be removed still is, when this process ends. */
  serverEnded(): void;
}

export interface GuardOptions {
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
