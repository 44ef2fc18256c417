// Jobs for the tests of the pool: what a hostile text may do to a thread.
import { readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { threadId } from 'node:worker_threads';
import { serveJobs } from './thread-body.ts';

export type TestJob =
  | { readonly kind: 'echo'; readonly text: string }
  | { readonly kind: 'spin'; readonly ms: number }
  | { readonly kind: 'hold'; readonly until: SharedArrayBuffer }
  | { readonly kind: 'fill' | 'throw' | 'nice' | 'thread' };

serveJobs((job: TestJob): string => {
  switch (job.kind) {
    case 'echo':
      return job.text;
    case 'spin': {
      const endMs = performance.now() + job.ms;
      while (performance.now() < endMs);
      return 'spun';
    }
    case 'hold':
      Atomics.wait(new Int32Array(job.until), 0, 0);
      return 'held';
    case 'fill': {
      const kept: number[][] = [];
      for (;;) kept.push(Array.from({ length: 1_000 }, (_, i) => i + kept.length));
    }
    case 'nice':
      return String(getPriority(Number(readlinkSync('/proc/thread-self').split('/')[2])));
    case 'thread':
      return String(threadId);
    case 'throw':
      throw new TypeError('with the text of a caller');
  }
});
