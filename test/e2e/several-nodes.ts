// One running stack of two gateways and three run-schedulers, with a NATS that a test may stop: the last of the process
// does. The runner builds the files that ask for it into one process (test/runner/shared-processes.ts), in the order of
// their names.
import { after } from 'node:test';
import { type TestNats, testNats } from '../harness/nats.ts';
import { type Stack, startStack } from './stack.ts';
import { NO_SIGN_IN } from './stack-process.ts';

let nats: TestNats | undefined;
let common: Promise<Stack> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => {
  await (await common?.catch(() => undefined))?.stop();
  await nats?.stop();
});

export function commonStack(): Promise<Stack> {
  common ??= start();
  return common;
}

/** Of the stack that has started. */
export async function killNats(): Promise<void> {
  await nats?.kill();
}

async function start(): Promise<Stack> {
  nats = await testNats();
  const args = ['--schedulers', '3', '--gateways', '2'];
  return startStack('several-nodes', { args, env: { ...NO_SIGN_IN, NATS_URL: nats.url } });
}
