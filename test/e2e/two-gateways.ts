// One running stack of two gateways, whose people sign in. The runner builds the files that ask for it into one process
// (test/runner/shared-processes.ts), in the order of their names.
import { after } from 'node:test';
import { ClientDocuments } from './agents/client-documents.ts';
import { type Stack, startStack } from './stack.ts';

let documents: ClientDocuments | undefined;
let common: Promise<Stack> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => {
  await (await common?.catch(() => undefined))?.stop();
  documents?.close();
});

export function commonStack(): Promise<Stack> {
  common ??= start();
  return common;
}

/** Of clients that have a URL as their id, whose certificate the stack that has started accepts. */
export function clientDocuments(): ClientDocuments {
  if (documents === undefined) throw new Error('the stack has not started');
  return documents;
}

async function start(): Promise<Stack> {
  documents = await ClientDocuments.served();
  const env = { LOG_LEVEL: 'info', NODE_EXTRA_CA_CERTS: documents.authorityFile };
  return startStack('two-gateways', { args: ['--gateways', '2'], env });
}
