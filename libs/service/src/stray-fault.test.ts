import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';

/** Ends when the service says it serves and the fault has been met, or by itself. */
async function outcomeOf(fault: string): Promise<{ code: number | null; log: string }> {
  const child = spawn(
    process.execPath,
    [...nodeArguments(new URL('./faulty-service.fixture.ts', import.meta.url)), fault],
    {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, log };
}

test('a lost connection that no one awaits is logged, and the process continues', async () => {
  for (const fault of ['ECONNRESET', 'CONNECTION_DESTROYED', 'TIMEOUT']) {
    const { code, log } = await outcomeOf(fault);
    assert.equal(code, 0, log);
    assert.match(log, /a connection was lost and nothing awaited it/);
    assert.match(log, /"signal":"SIGTERM"/);
  }
});

test('a fault of our own that no one awaits ends the process, stopped in order', async () => {
  for (const fault of ['ERR_INVALID_ARG_TYPE', 'none']) {
    const { code, log } = await outcomeOf(fault);
    assert.equal(code, 1, log);
    assert.match(log, /stopping after a fault/);
  }
});
