import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { newId, newRunId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { RunStatus, StepStatus, StepViewSchema } from '@methods/proto/run/v1/run_pb';
import { QuestionState } from '@methods/proto/scheduler/v1/question_service_pb';
import { RunValue } from '@methods/proto/scheduler/v1/run_parts_service_pb';
import { until } from '@methods/test/harness/until';
import { NO_ONE } from '../../plugins/request-actor.ts';
import { type ApiFixture, type Asking, assertRefused, commonRegistryApi } from '../../testing/api.fixture.ts';
import { RunBook } from '../../testing/run-book.fixture.ts';
import { SchedulerPeer } from '../../testing/scheduler-peer.fixture.ts';

const SOURCE = `format: method/2
name: greet
steps:
  - name: approve
    ask: Send it?
    out: { ok: boolean }
`;
const OUTPUT = JSON.stringify({ text: 'ä'.repeat(20_000) });

const book = new RunBook();
const node = new SchedulerPeer(book);
const asked: unknown[] = [];
let api: ApiFixture;
let member: Asking;
let viewer: Asking;
let stranger: Asking;
let admin: Asking;
let runId: RunId;

before(async () => {
  await node.start();
  api = await commonRegistryApi({ runSchedulerAddresses: [node.address] });
  [admin, member, viewer, stranger] = await Promise.all([
    api.person('admin'),
    api.person('member'),
    api.person('viewer'),
    api.person('admin', 'others'),
  ]);
  for (const person of [admin, member, viewer]) await person('GET', '/api/whoami');
  const { body } = await member('POST', '/api/methods', { idempotency_key: randomUUID(), source: SOURCE });
  await member('POST', `/api/methods/${body.method.id}/publish`, { version_id: body.method.current_version });
  await until('the node is linked', () => node.linked);
  runId = (await member('POST', '/api/runs', { method: body.method.id })).body.run_id;
  node.parts.answer({
    measureSteps: async ({ paths }) => {
      asked.push(paths);
      return { steps: paths.map((path) => ({ path, outBytes: 7, outWithheld: path === 'b', logBytes: 3 })) };
    },
    readValue: async ({ of, step, offset, bytes }) => {
      asked.push([of, step, offset, bytes]);
      if (step === 'unknown') throw new ServiceError('not_found');
      if (of === RunValue.RESULT) return { bytesTotal: 0 };
      const whole = Buffer.from(OUTPUT);
      return { bytesTotal: whole.length, part: whole.subarray(offset, offset + bytes) };
    },
    getQueuePlace: async () => ({ queuedAtMs: 5, ahead: 12, more: false, needs: ['python'] }),
    listRunQuestions: async () => ({
      questions: [
        {
          questionId: newId('q'),
          runId,
          method: `wf_${'0'.repeat(26)}`,
          step: 'approve',
          state: QuestionState.EXPIRED,
        },
      ],
      nextCursor: '',
    }),
  });
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await node.stop();
});

test('a queued run shows who started it and what is ahead of it', async () => {
  const { body } = await viewer('GET', `/api/runs/${runId}`);
  assert.equal(body.pending.reason, 'in_queue');
  assert.deepEqual(body.pending.detail, { ahead: 12, ahead_more: false, needs: ['python'] });
  const short = await viewer('GET', `/api/runs/${runId}?steps=false`);
  assert.deepEqual([short.body.steps, short.body.steps_left_out], [[], 0]);
  assert.equal(short.body.pending.reason, 'in_queue');
  assertRefused(await viewer('GET', `/api/runs/${runId}?steps=true`), 400, 'invalid_request');
});

test('steps are listed with the sizes of their values, a page at a time, and the reading is recorded', async () => {
  const steps = ['a', 'b', 'c'].map((path) =>
    create(StepViewSchema, { path, kind: 'node', status: StepStatus.SUCCEEDED }),
  );
  book.change(runId, { steps });
  const first = await viewer('GET', `/api/runs/${runId}/steps?limit=2`);
  assert.equal(first.status, 200, JSON.stringify(first.body));
  assert.deepEqual(
    first.body.items.map(({ name, output_bytes, output_withheld, log_bytes }: Record<string, unknown>) => [
      ...[name, output_bytes, output_withheld, log_bytes],
    ]),
    [
      ['approve', 7, undefined, 3],
      ['a', 7, undefined, 3],
    ],
  );
  assert.deepEqual(first.body.counts, { pending: 1, succeeded: 3 });
  const next = await viewer('GET', `/api/runs/${runId}/steps?cursor=${first.body.next_cursor}`);
  assert.deepEqual(
    next.body.items.map(({ name }: { name: string }) => name),
    ['b', 'c'],
  );
  assert.equal(next.body.next_cursor, null);
  assert.deepEqual(asked.at(-1), ['b', 'c'], 'only the steps of the page are measured');
  assertRefused(await viewer('GET', `/api/runs/${runId}/steps?cursor=x`), 400, 'invalid_request', 'cursor');
  assertRefused(await viewer('GET', `/api/runs/${runId}/steps?limit=1001`), 400, 'invalid_request');
  const { body: log } = await admin('GET', `/api/audit?target=${runId}&action=run.read`);
  assert.ok(log.items.length >= 2);
});

test('a large value is read in parts that end at whole characters', async () => {
  const read = (query: string) => viewer('GET', `/api/runs/${runId}/values?${query}`);
  let text = '';
  let offset = 0;
  for (let parts = 0; offset !== null && parts < 10; parts++) {
    const { body } = await read(`of=output&step=a&offset=${offset}`);
    assert.deepEqual([body.of, body.step, body.bytes], ['output', 'a', Buffer.byteLength(OUTPUT)]);
    text += body.text;
    offset = body.next_offset;
  }
  assert.equal(text, OUTPUT);
  const { body: none } = await read('of=result');
  assert.deepEqual([none.bytes, none.text, none.next_offset, none.step], [0, '', null, undefined]);
  for (const query of ['of=output', 'of=inputs&step=a', 'of=log']) {
    assertRefused(await read(query), 400, 'invalid_request', 'step');
  }
  for (const query of ['', 'of=secrets', 'of=inputs&bytes=9999999', 'of=inputs&offset=-1']) {
    assertRefused(await read(query), 400, 'invalid_request');
  }
  assertRefused(await read('of=output&step=unknown'), 404, 'not_found');
});

test('a value is downloaded whole, as a file that no browser shows', async () => {
  const { status } = await viewer('GET', `/api/runs/${runId}/values/download?of=result`);
  assert.equal(status, 404);
  const { headers } = await rawDownload(`/api/runs/${runId}/values/download?of=output&step=a%2F..%2Fb`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('content-disposition'), `attachment; filename="${runId}-a-b-output.json"`);
  assert.equal(Number(headers.get('content-length')), Buffer.byteLength(OUTPUT));
});

/** The reply is no JSON. */
async function rawDownload(path: string) {
  const { organization, user } = (await viewer('GET', '/api/whoami')).body;
  const session = await api.session(organization.id, user.id);
  const response = await fetch(`http://127.0.0.1:${api.port}${path}`, { headers: session.headers });
  assert.equal(await response.text(), OUTPUT);
  await session.end();
  return response;
}

test('the questions of a run are listed with their states', async () => {
  const { status, body } = await viewer('GET', `/api/runs/${runId}/questions`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.items[0].state, body.items[0].step, body.next_cursor], ['expired', 'approve', null]);
});

test("another organization's run and a missing one have no parts", async () => {
  for (const path of ['steps', 'questions']) {
    assertRefused(await stranger('GET', `/api/runs/${runId}/${path}`), 404, 'not_found');
    assertRefused(await viewer('GET', `/api/runs/${newRunId(0)}/${path}`), 404, 'not_found');
    assertRefused(await viewer('GET', `/api/runs/run_1/${path}`), 404, 'not_found');
  }
});

test('people see who started a run by name, and the first line of its error', async () => {
  const keyId = (await admin('POST', '/api/keys', { name: 'app', auth_sha256: 'a'.repeat(64) })).body.key.id;
  const error = { $typeName: 'methods.run.v1.RunError' as const, code: 'step_failed', kind: 'http', step: 's' };
  book.change(runId, { status: RunStatus.FAILED, error: { ...error, message: 'No.' }, starter: { ...NO_ONE, keyId } });
  const [shown] = (await viewer('GET', '/api/runs')).body.items;
  assert.deepEqual(shown.started_by, { kind: 'service_key', id: keyId, name: 'app' });
  assert.equal(shown.error.message, 'No.');
  const { body } = await viewer('GET', `/api/runs/${runId}`);
  assert.deepEqual([body.started_by.name, body.pending], ['app', undefined]);
  const [plain] = (await viewer('GET', '/v1/runs')).body.items;
  assert.deepEqual([plain.started_by.name, plain.error.message], [undefined, undefined]);
});
