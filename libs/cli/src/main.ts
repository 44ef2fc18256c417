// The process of the `methods` command: its signals, its streams and its end.
import { CalledProgram } from './command/called-program.ts';
import { EXIT } from './command/exit-code.ts';
import { readConfig } from './config.ts';
import { endOfProcess } from './terminal/end-of-process.ts';

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
    // The second is from a person who has waited long enough; steps die with this process. A closed terminal sends
    // several, and no one waits any more.
    if (interrupt.signal.aborted && signal !== 'SIGHUP') end(EXIT.interrupted);
    stop();
  });
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has gone (`methods … | head`) is not our fault; a terminal that has gone is an interrupt. Ctrl-C
    // also ends `tee` behind a pipe, at once: this must not cut an orderly end short.
    const gone = error.code === 'EPIPE';
    if (gone && !program.endsByInterrupt && !interrupt.signal.aborted) end(EXIT.done);
    if (!gone && error.code !== 'EIO' && !interrupt.signal.aborted) end(EXIT.failed);
    stop();
  });
}
process.on('uncaughtException', (error) => end(program.told(error)));

// Timers of the executor keep no process alive, and a wait or a delay between tries is only a timer.
setInterval(() => {}, 1 << 30);
const code = await program.run();
// An idle connection or a runner's pipe must not keep the command; what was written must get out first.
await new Promise((written) => process.stdout.write('', written));
end(code);
