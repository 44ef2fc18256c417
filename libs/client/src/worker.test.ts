import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { until } from '@methods/test/harness/until';
import { ApplicationWorker, type WorkerParts } from './worker.ts';

/** Says what it is ordered. */
const THREAD = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', (order) => {
  if (order.order === 'stop') parentPort.close();
  else parentPort.postMessage({ report: 'log', message: order.order + ' ' + (order.bearer ?? order.methods) });
});`;

test('a worker that could not be started, as its sign-in was not renewed, is started again while a run waits', async () => {
  const file = join(tempFolder('thread'), 'thread.mjs');
  writeFileSync(file, THREAD);
  let asked = 0;
  const bearer = async () => {
    if (asked++ === 0) throw new Error('the issuer is unavailable');
    return 'token';
  };
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
  const lines: string[] = [];
  const parts: WorkerParts = {
    server: 'http://server.test',
    credential: { isKey: true, contentPart: undefined, bearer },
    log: (line) => void lines.push(line),
  };
  const worker = Reflect.construct(ApplicationWorker, [parts, pathToFileURL(file)]) as ApplicationWorker;
  await worker.during('wf_1', () => until('it is started', () => lines.includes('worker: start token')));
  assert.equal(asked, 2);
  assert.match((await warned).message, /the issuer is unavailable/);
});
