import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { RunClient } from './demonstration.ts';

test('waits for a busy service and for a run that takes long', async () => {
  const answers: [status: number, run: object][] = [
    [503, {}],
    [201, { status: 'queued' }],
    [200, { status: 'running' }],
    [429, {}],
    [200, { status: 'waiting', question: { id: 'q_1' } }],
    [200, { status: 'succeeded' }],
  ];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const [status, run] = answers.shift() ?? [500, {}];
    response.writeHead(status).end(JSON.stringify({ run_id: 'run_1', ...run }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const client = new RunClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key');
    const run = await client.rested(await client.start({}), 'q_1');
    assert.equal(run.status, 'succeeded');
    const look = 'GET /v1/runs/run_1?wait_ms=15000&after_question=q_1';
    assert.deepEqual(asked, ['POST /v1/runs', 'POST /v1/runs', look, look, look, look]);
  } finally {
    server.close();
  }
});
