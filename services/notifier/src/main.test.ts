// The process itself, killed and cut off from its database at the worst times.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { startTestPostgres } from '@methods/test/harness/postgres';
import { until } from '@methods/test/harness/until';
import { type NotifierStack, notifierStack, succeeded } from '../test/notifier-stack.fixture.ts';
import { receiver } from '../test/receiver.fixture.ts';

function notifierProcess(stack: NotifierStack, settings: Readonly<Record<string, string>>): ChildProcess {
  // biome-ignore lint/style/noProcessEnv: the child needs PATH
  const env = { ...process.env, ...stack.environment(settings) };
  return spawn(process.execPath, nodeArguments(new URL('./main.ts', import.meta.url)), {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

test('a node killed between the receiver’s 2xx and its own record repeats the same bytes once, in time', async () => {
  await using stack = await notifierStack();
  let child: ChildProcess | null = null;
  await using server = await receiver((_request, response) => {
    if (server.requests.length === 1) child?.kill('SIGKILL');
    response.writeHead(200).end();
  });
  const event = succeeded(`http://127.0.0.1:${server.port}/`);
  child = notifierProcess(stack, { WEBHOOK_TIMEOUT_MS: '1000', WEBHOOK_CLAIM_MS: '2000' });
  try {
    await stack.emit(event);
    await server.received(1);
    await once(child, 'exit');
    const survivor = await stack.notifier();
    try {
      const requests = await server.received(2);
      // The claim of 2 s, the 5 s within which every node looks for deliveries of dead nodes, and the delay of a busy
      // machine.
      assert.ok((requests[1]?.atMs ?? 0) - (requests[0]?.atMs ?? 0) < 30_000);
      assert.ok(requests[0]?.rawBody.equals(requests[1]?.rawBody ?? Buffer.alloc(0)));
      assert.equal(requests[0]?.headers['service-delivery'], requests[1]?.headers['service-delivery']);
      await until('the delivery ended', async () => {
        const [row] = await stack.database.sql`select from notifier.deliveries where status = 'delivered'`;
        return row;
      });
      assert.equal(server.requests.length, 2);
    } finally {
      await survivor.stop();
    }
  } finally {
    await killed(child);
  }
});

test('a result that finds no database is recorded when the database is back, and the webhook is not sent again', async () => {
  let postgres = await startTestPostgres();
  const stack = await notifierStack(postgres.url);
  try {
    await using server = await receiver((_request, response) => {
      void postgres.stop('SIGKILL').then(() => response.writeHead(200).end());
    });
    const notifier = await stack.notifier({ WEBHOOK_TIMEOUT_MS: '10000', WEBHOOK_CLAIM_MS: '60000' });
    try {
      await stack.emit(succeeded(`http://127.0.0.1:${server.port}/`));
      await server.received(1);
      await postgres.exited;
      postgres = await postgres.again();
      await until('the delivery ended', async () => {
        const rows = await stack.database
          .sql`select from notifier.deliveries where status = 'delivered' and tries = 1`.catch(() => []);
        return rows.length > 0;
      });
      assert.equal(server.requests.length, 1);
    } finally {
      await notifier.stop();
    }
  } finally {
    await stack[Symbol.asyncDispose]();
    await postgres.stop();
  }
});

test('the process ends by itself on SIGTERM, and reports faults of its environment', async () => {
  await using stack = await notifierStack();
  const child = notifierProcess(stack, { LOG_LEVEL: 'info' });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  try {
    await until('it serves', () => log.includes('"serving"'));
    const event = succeeded('');
    await stack.emit(event);
    await until('it takes events in', () => stack.confirmed.includes(event.outboxId ?? ''));
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    assert.deepEqual(await exit, [0, null]);
  } finally {
    await killed(child);
  }
  const wrong = notifierProcess(stack, { LISTEN: 'nowhere', WEBHOOK_CLAIM_MS: '1' });
  let said = '';
  wrong.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = await once(wrong, 'exit');
  assert.equal(code, 1);
  assert.match(said, /LISTEN/);
  assert.match(said, /WEBHOOK_CLAIM_MS/);
});
