// Loaded into each process of an attacked stack: writes how long its event loop was held at most, twice a second, to a
// file of the process in the folder that the address of this module names.
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const STEP_MS = 10;

if (isMainThread) {
  const file = `${new URL(import.meta.url).searchParams.get('folder')}/${process.pid}`;
  const delay = monitorEventLoopDelay({ resolution: STEP_MS });
  delay.enable();
  setInterval(() => {
    appendFileSync(file, `${Date.now()} ${Math.max(0, Math.round(delay.max / 1e6) - STEP_MS)}\n`);
    delay.reset();
  }, 500).unref();
}
