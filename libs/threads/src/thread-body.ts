// The inner side of a job thread: runs one job after the other and posts each outcome.
import { readlinkSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { assert } from '@methods/base/assert';

/** `taskPath`: where the kernel keeps this thread's figures, below /proc; null: it cannot be known. */
export type ThreadMessage =
  | { readonly kind: 'ready'; readonly taskPath: string | null }
  | { readonly kind: 'done'; readonly reply: unknown }
  | { readonly kind: 'threw'; readonly what: string };

/** Call it once, in the file that the pool names as its body. Jobs and replies are what `structuredClone` takes. */
export function serveJobs<Job, Reply>(run: (job: Job) => Reply): void {
  const port = parentPort;
  assert(port !== null, 'jobs are served in a thread');
  const post = (message: ThreadMessage) => port.postMessage(message);
  port.on('message', (job: Job) => {
    try {
      post({ kind: 'done', reply: run(job) });
    } catch (error) {
      post({ kind: 'threw', what: whatFailed(error) });
    }
  });
  post({ kind: 'ready', taskPath: taskPath() });
}

function taskPath(): string | null {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return null;
  }
}

/** Class and place, for the log. A message may hold a piece of the job, so it stays here. */
function whatFailed(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const places = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  return [error.name, ...places.slice(0, 3)].join('\n');
}
