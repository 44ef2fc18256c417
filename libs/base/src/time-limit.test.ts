import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { withTimeLimit } from './time-limit.ts';

test('a time limit is kept after a collection of garbage, with which Node 20 forgets AbortSignal.timeout', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const signal = withTimeLimit(new AbortController().signal, 100);
  const collecting = setInterval(collectGarbage, 10);
  try {
    // The deadline, which no working limit comes near, ends the wait for one that was forgotten.
    await once(signal, 'abort', { signal: AbortSignal.timeout(20_000) });
    equal((signal.reason as Error).name, 'TimeoutError');
  } finally {
    clearInterval(collecting);
  }
});

test('a time limit ends with its signal', () => {
  const stop = new AbortController();
  const signal = withTimeLimit(stop.signal, 3_600_000);
  stop.abort(new Error('stopped'));
  equal(signal.reason.message, 'stopped');
});
