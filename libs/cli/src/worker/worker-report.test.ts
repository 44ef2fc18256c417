import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Output } from '../terminal/output.ts';
import { WorkerReport } from './worker-report.ts';

/** A report, and what it has printed. */
function printing() {
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
  return { said, report: new WorkerReport(output, facts) };
}

test('an outage is one line for any number of tries, also before the first connection', () => {
  const { said, report } = printing();
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

test('a faulty certificate is a line in each outage, also after the connection was lost for another reason', () => {
  const { said, report } = printing();
  const address = 'https://workers.test';
  const expired = { code: 'unavailable', address, certificate: 'CERT_HAS_EXPIRED', waitMs: 100 };
  report.connected();
  for (let time = 0; time < 2; time++) {
    report.logger.warn({ code: 'unavailable', address, waitMs: 100 }, 'not connected');
    for (let tries = 0; tries < 3; tries++) report.logger.warn(expired, 'not connected');
    report.connected();
  }
  const outage = [
    'The connection is lost (unavailable), trying again in 0.10 s',
    'No connection: the certificate of https://workers.test has expired; it is tried again until it is good',
    'Connected again',
  ];
  const ready = 'Ready: wf_a, 1 at a time, at https://methods.test';
  assert.deepEqual(said.stdout.trimEnd().split('\n'), [ready, ...outage, ...outage]);
  const hint = 'hint: its operator has to renew it, or the clock of this machine is ahead\n';
  assert.equal(said.stderr, hint.repeat(2));
});
