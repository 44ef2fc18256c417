// The process of the `methods` command: its signals, its streams and its end.

import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { CalledProgram } from './called-program.ts';
import { readConfig } from './config.ts';
import { CommandError, EXIT, type ExitCode } from './errors/command-error.ts';
import { reasonOf } from './method-file/method-file.ts';

/** How long a command may take to end in order after the first interrupt. */
const STOP_MS = 15_000;

const interrupt = new AbortController();
const end = endOfProcess();
const program = new CalledProgram(process.argv.slice(2), {
  streams: process,
  cwd: process.cwd(),
  config: readConfig(),
  interrupted: interrupt.signal,
});

function stop(): void {
  if (interrupt.signal.aborted) return;
  interrupt.abort();
  setTimeout(() => end(EXIT.interrupted), STOP_MS).unref();
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // The second interrupt comes from a person who has waited long enough; steps die with this process. A closed
    // terminal sends several, and no one is waiting then.
    if (interrupt.signal.aborted && signal !== 'SIGHUP') end(EXIT.interrupted);
    stop();
  });
}
let failure: ExitCode | null = null;
for (const stream of [process.stdout, process.stderr]) {
  if (isFile(stream)) writeWholly(stream);
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has gone (`methods … | head`) is not our fault, unless the output is shown only once; a terminal that has
    // gone is an interrupt. Ctrl-C also ends `tee` behind a pipe at once, which must not interrupt an orderly end.
    const gone = error.code === 'EPIPE' && (stream !== process.stdout || program.ifLost === null);
    if (gone && !program.endsByInterrupt && !interrupt.signal.aborted) end(EXIT.done);
    if (!gone && error.code !== 'EIO' && !interrupt.signal.aborted) {
      failure = program.told(notWritten(error, program.ifLost));
      if (!program.endsByInterrupt) end(failure);
    }
    stop();
  });
}
process.on('uncaughtException', (error) => end(program.told(error)));

// Timers of the executor keep no process alive, and a wait or a delay between tries is only a timer.
setInterval(() => {}, 1 << 30);
const code = await program.run();
// An idle connection or a runner's pipe must not keep the command running, but its output must be written first.
await new Promise((written) => process.stdout.write('', written));
end(failure ?? code);

/** Terminals and pipes are sockets to Node. After `fstat` of a pipe, Node 20 follows no links to packages any more. */
function isFile(stream: object): boolean {
  return !(stream instanceof Socket);
}

/** Node's own stream to a file takes a write that a full disk cut short for a whole one. */
function writeWholly(stream: NodeJS.WriteStream & { readonly fd: number }): void {
  stream._write = (chunk: Buffer, _encoding, done) => {
    try {
      writeFileSync(stream.fd, chunk);
    } catch (error) {
      return done(error as Error);
    }
    done();
  };
}

function notWritten(error: NodeJS.ErrnoException, ifLost: string | null): CommandError {
  const why = error.code === 'EPIPE' ? 'its reader has gone' : reasonOf(error);
  return new CommandError('not_written', `the output cannot be written: ${why}`, { hint: ifLost ?? undefined });
}

/** Called at the start. The returned function ends the process as `process.exit` does. */
function endOfProcess(): (code: number) => never {
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
 * Node resets terminals at its end, and crashes if one has gone (`Assertion failed` in ResetStdio): a core dump and a
 * crash report for every closed window. So the end of a command without its terminal is this signal's.
 */
function endAsHungUp(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
