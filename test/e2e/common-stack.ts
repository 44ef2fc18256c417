// One running stack for all test files of a process, since a start takes longer than most of what is done with it. The
// runner builds the files that ask for it into one process (test/runner/shared-processes.ts); they run one after the
// other. A test that stops a part of the stack, or counts what others may add, starts a stack of its own.
import { after } from 'node:test';
import { SECRET } from './content/secrets.ts';
import { WEBHOOK_RETRY_MS } from './content/webhooks.ts';
import { type Stack, startStack } from './stack.ts';
import { NO_SIGN_IN } from './stack-process.ts';

let common: Promise<Stack> | undefined;

// Of the process: when the tests of all its files have ended.
after(async () => (await common?.catch(() => undefined))?.stop());

/** A single node of each service, without sign-ins; its waits between redeliveries are short enough to be seen. */
export function commonStack(): Promise<Stack> {
  const env = { ...NO_SIGN_IN, WEBHOOK_RETRY_MS, E2E_TOKEN: SECRET, LOG_LEVEL: 'debug' };
  common ??= startStack('common', { env });
  return common;
}
