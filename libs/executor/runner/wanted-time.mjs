// Measures how long the process has wanted a processor: the time it had one, and the time it waited for one. The rest
// of a step's time it waits for something else, and another process could work meanwhile.
import { openSync, readSync } from 'node:fs';

const SCHEDSTAT = '/proc/self/schedstat';
const buffer = Buffer.alloc(96);
const file = opened();

/** In ms, from an arbitrary start. */
export function wantedMs() {
  if (file === null) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  try {
    const [ran, waited] = buffer.latin1Slice(0, readSync(file, buffer, 0, buffer.length, 0)).split(' ', 2);
    return (Number(ran) + Number(waited)) / 1e6;
  } catch {
    // A step closed it.
    return 0;
  }
}

/** Null if the system does not count it. */
function opened() {
  try {
    return openSync(SCHEDSTAT);
  } catch {
    return null;
  }
}
