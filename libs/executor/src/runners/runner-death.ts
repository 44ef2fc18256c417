// Explains a process's end: why did it exit while a step ran in it?

import { StepFailure } from '../step-failure.ts';
import { memoryFailure } from './process-watch.ts';

/** `stderr`: the end of the process's output; the engine reports a full heap there. */
export function deathFailure(
  code: number | null,
  signal: NodeJS.Signals | null,
  stderr: string,
  memoryMb: number,
): StepFailure {
  if (/heap out of memory|Array buffer allocation failed|Zone/.test(stderr) && (signal === 'SIGABRT' || code === 134)) {
    return memoryFailure(memoryMb);
  }
  if (signal === 'SIGKILL') return new StepFailure('memory', 'The process was killed, most likely for lack of memory');
  if (signal !== null) return new StepFailure('exit', `The process ended by ${signal}`);
  if (code === null) return new StepFailure('internal', 'The process could not be started');
  return new StepFailure('exit', `The step ended its process with exit code ${code}`, { code });
}
