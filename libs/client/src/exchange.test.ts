// The time that one attempt of a request may take, by a clock of its own.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { type Bytes, Exchange } from './exchange.ts';

const TIMEOUT_MS = 30_000;
const MIB = 1024 * 1024;
/** For 10 MiB. */
const SENT_MS = 160_000;

/** Sends it by `send`, whose reply never comes. */
async function late(content: Bytes, send: (init: RequestInit) => Promise<void>): Promise<void> {
  const request = { verb: 'POST', url: 'http://server.test/', headers: {}, signal: undefined } as const;
  let hadTime = false;
  const begun = Exchange.begin({ ...request, content, timeoutMs: TIMEOUT_MS }, async (_url, init = {}) => {
    await send(init);
    hadTime = init.signal?.aborted === false;
    mock.timers.tick(TIMEOUT_MS + SENT_MS);
    throw init.signal?.reason;
  });
  await assert.rejects(begun, { name: 'TimeoutError' });
  assert.ok(hadTime);
}

test('a file that is sent over a slow connection has time for it, and its reply has the timeout', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const bytes = new Uint8Array(10 * MIB);
    for (const content of [bytes, new Blob([bytes])]) await late(content, async () => mock.timers.tick(SENT_MS));
    const stream = async function* () {
      for (let n = 0; n < 10; n++) yield new Uint8Array(MIB);
    };
    await late(stream(), async ({ body }) => {
      for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
        assert.equal(part.length, MIB);
        mock.timers.tick(TIMEOUT_MS - 1);
      }
    });
  } finally {
    mock.timers.reset();
  }
});
