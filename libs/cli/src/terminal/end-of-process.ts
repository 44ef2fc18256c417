// Ends the process, also where its terminal has gone meanwhile.
import { isatty } from 'node:tty';

/** To be called at the start. The function it gives ends the process as `process.exit` does. */
export function endOfProcess(): (code: number) => never {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  return (code) => {
    // Behind all other listeners.
    process.once('exit', () => {
      if (terminals.some((fd) => !isatty(fd))) endAsHungUp();
    });
    process.exit(code);
  };
}

/**
 * Node puts terminals back as they were, and crashes where one has gone (`Assertion failed` in ResetStdio): a core, and a
 * report of a crash, for every window that was closed. The end of a command without its terminal is this signal's.
 */
function endAsHungUp(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
