// Loaded into each process of a stack that is profiled: SIGIO begins a CPU profile, the next one ends it and writes it
// into the folder that the address of this module names.
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread } from 'node:worker_threads';

const EVERY_US = 250;

if (isMainThread) {
  const file = `${new URL(import.meta.url).searchParams.get('folder')}/${process.pid}`;
  let session = null;
  process.on('SIGIO', () => {
    if (session === null) {
      session = new Session();
      session.connect();
      session.post('Profiler.enable');
      session.post('Profiler.setSamplingInterval', { interval: EVERY_US });
      session.post('Profiler.start', () => writeFileSync(`${file}.begun`, ''));
      return;
    }
    session.post('Profiler.stop', (error, ended) => {
      writeFileSync(`${file}.part`, error ? '' : JSON.stringify(ended.profile));
      renameSync(`${file}.part`, `${file}.cpuprofile`);
    });
    session.disconnect();
    session = null;
  });
}
