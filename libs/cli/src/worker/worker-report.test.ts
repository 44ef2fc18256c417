import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Output } from '../terminal/output.ts';
import { WorkerReport } from './worker-report.ts';

test('an outage is one line for any number of tries, also before the first connection', () => {
  const said = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof said) => {
    const write = (text: string) => {
      said[name] += text;
    };
    return { isTTY: false, write } as unknown as NodeJS.WriteStream;
  };
  const streams = { stdin: process.stdin, stdout: stream('stdout'), stderr: stream('stderr') };
  const output = new Output({ ...streams, json: false, quiet: false, color: false });
  const facts = { methods: ['wf_a'], concurrency: 1, server: 'https://methods.test', signedIn: false };
  const report = new WorkerReport(output, facts);
  const fails = () => report.logger.warn({ code: 'unavailable', waitMs: 100 }, 'not connected');
  for (let time = 0; time < 2; time++) {
    for (let tries = 0; tries < 3; tries++) fails();
    report.connected();
  }
  assert.deepEqual(said.stdout.trimEnd().split('\n'), [
    'No connection yet (unavailable), trying again in 0.10 s',
    'Ready: wf_a, 1 at a time, at https://methods.test',
    'The connection is lost (unavailable), trying again in 0.10 s',
    'Connected again',
  ]);
  assert.equal(said.stderr, 'If none comes:  methods doctor --server https://methods.test  says why\n');
});
