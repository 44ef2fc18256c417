import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { newId, newRunId, type RunId, type VersionId } from '@methods/base/ids';
import { NewsDetail } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { type TestNats, testNats } from '@methods/test/harness/nats';
import { until } from '@methods/test/harness/until';
import { type ApiFixture, type Asking, apiFixture, assertRefused } from '../../testing/api.fixture.ts';
import { RunBook } from '../../testing/run-book.fixture.ts';
import { SchedulerPeer } from '../../testing/scheduler-peer.fixture.ts';

const SOURCE = `format: method/2
name: greet
steps:
  - name: approve
    ask: Send it?
    out: { ok: boolean }
`;

const book = new RunBook();
const node = new SchedulerPeer(book);
let nats: TestNats;
let api: ApiFixture;
let admin: Asking;
let member: Asking;
let viewer: Asking;
let stranger: Asking;
let key: string;
let method: { id: string; versionId: VersionId };

before(async () => {
  nats = await testNats();
  await node.start();
  api = await apiFixture({ runSchedulerAddresses: [node.address], natsUrl: nats.url });
  [admin, member, viewer, stranger] = await Promise.all([
    api.person('admin'),
    api.person('member'),
    api.person('viewer'),
    api.person('admin', 'others'),
  ]);
  for (const person of [admin, member, viewer]) await person('GET', '/api/whoami');
  const made = createServiceKey();
  key = made.key;
  await admin('POST', '/api/keys', { name: 'app', auth_sha256: made.authSha256.toString('hex') });
  const { body } = await member('POST', '/api/methods', { idempotency_key: randomUUID(), source: SOURCE });
  method = { id: body.method.id, versionId: body.method.current_version };
  await member('POST', `/api/methods/${method.id}/publish`, { version_id: method.versionId });
  await until('the node is linked', () => node.linked);
});
after(async () => {
  await api[Symbol.asyncDispose]();
  await node.stop();
  await nats.stop();
});

const byKey: Asking = (verb, path, body) => member(verb, path, body, { authorization: `Bearer ${key}` });

async function started(as = member, url = '/api/runs', more = {}): Promise<RunId> {
  const { status, body } = await as('POST', url, { method: method.id, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body.run_id;
}

/** The audit log's entries about a run, oldest first. */
async function actsOn(runId: RunId | VersionId): Promise<string[]> {
  const { body } = await admin('GET', `/api/audit?target=${runId}`);
  return body.items.map(({ action }: { action: string }) => action).reverse();
}

test('people start, read, answer and cancel runs as programs do, each in a role that may', async () => {
  assertRefused(await viewer('POST', '/api/runs', { method: method.id }), 403, 'forbidden');
  const runId = await started();
  assert.equal(book.starts.at(-1)?.keyId, '', 'no key signs for it');
  assert.equal((await viewer('GET', `/api/runs/${runId}`)).body.run_id, runId);
  const questionId = book.ask(runId).question?.id;
  const answer = { answer: { ok: true }, question_id: questionId };
  assertRefused(await viewer('POST', `/api/runs/${runId}/answer`, answer), 403, 'not_an_answerer');
  assert.equal((await member('POST', `/api/runs/${runId}/answer`, answer)).body.status, 'queued');
  assertRefused(await viewer('POST', `/api/runs/${runId}/cancel`), 403, 'forbidden');
  assert.equal((await member('POST', `/api/runs/${runId}/cancel`)).body.status, 'cancelled');
  assertRefused(await stranger('GET', `/api/runs/${runId}`), 404, 'not_found');
  assertRefused(await stranger('POST', `/api/runs/${runId}/cancel`), 404, 'not_found');
});

test('people rerun and follow runs in a role that may, and both are recorded', async () => {
  const runId = await started();
  assertRefused(await viewer('POST', `/api/runs/${runId}/rerun`), 403, 'forbidden');
  assertRefused(await stranger('POST', `/api/runs/${runId}/rerun`), 404, 'not_found');
  const { status, body } = await member('POST', `/api/runs/${runId}/rerun`, { idempotency_key: `again-${runId}` });
  assert.deepEqual([status, body.version_id, body.status], [201, method.versionId, 'queued']);
  await until('the rerun is told', async () => (await actsOn(body.run_id)).includes('run.start'));
  const { body: log } = await admin('GET', `/api/audit?target=${body.run_id}&action=run.start`);
  assert.equal(log.items[0].after.rerun_of, runId);
  const { revision } = book.succeed(runId, '{}');
  assertRefused(await stranger('GET', `/api/runs/${runId}/events`), 404, 'not_found');
  const seen = { 'last-event-id': String(revision) };
  assert.equal((await viewer('GET', `/api/runs/${runId}/events`, undefined, seen)).status, 204);
  assert.ok((await actsOn(runId)).includes('run.read'));
});

test("a person's run has no webhook", async () => {
  const start = { method: method.id, webhook_url: 'https://example.com/hook' };
  for (const url of ['/api/runs', '/v1/runs']) assertRefused(await member('POST', url, start), 403, 'forbidden');
});

test('a person starts a batch, and each of its runs is in the audit log; a viewer starts none', async () => {
  const runs = [{ method: method.id }, { method: newId('org') }, { method: method.id }];
  const { status, body } = await member('POST', '/api/runs/batch', { runs });
  assert.equal(status, 200);
  const [one, refused, other] = body.items;
  assert.deepEqual([one.status, refused.status, other.status], [201, 404, 201]);
  for (const { run } of [one, other]) {
    await until('the start is recorded', async () => (await actsOn(run.run_id)).includes('run.start'));
  }
  assertRefused(await viewer('POST', '/api/runs/batch', { runs }), 403, 'forbidden');
});

test('what people see of a run and do to it is in the audit log before they get the reply', async () => {
  const runId = await started();
  await viewer('GET', `/api/runs/${runId}`);
  const questionId = book.ask(runId).question?.id;
  await member('POST', `/api/runs/${runId}/answer`, { answer: {}, question_id: questionId, comment: 'Seen.' });
  await member('POST', `/v1/runs/${runId}/cancel`);
  assert.deepEqual((await actsOn(runId)).sort(), ['run.answer', 'run.cancel', 'run.read', 'run.start']);
  const { body } = await admin('GET', `/api/audit?target=${runId}&action=run.answer`);
  const hashes = { form_sha256: 'f0', version_sha256: 'e0' };
  assert.deepEqual(body.items[0].after, { question_id: questionId, channel: 'cli', counted: 'answer', ...hashes });
  assert.equal(body.items[0].by.kind, 'user');
});

test('a person who waits after an answer sees the run, and the log records both before the reply', async () => {
  const runId = await started();
  const questionId = book.ask(runId).question?.id;
  const answer = { answer: { ok: true }, question_id: questionId };
  const { body } = await member('POST', `/api/runs/${runId}/answer?wait_ms=0`, answer);
  assert.equal(body.status, 'queued');
  assert.deepEqual((await actsOn(runId)).sort(), ['run.answer', 'run.read', 'run.start']);
});

test('answers and cancels of a service key are recorded, its starts and reads are not', async () => {
  const runId = await started(byKey, '/v1/runs');
  await byKey('GET', `/v1/runs/${runId}`);
  await byKey('GET', '/v1/runs');
  await byKey('POST', `/v1/runs/${runId}/cancel`);
  await until('the cancel is told', async () => (await actsOn(runId)).length > 0);
  assert.deepEqual(await actsOn(runId), ['run.cancel']);
});

test('while the registry cannot write, people see no run and programs continue', async () => {
  const runId = await started();
  await byKey('GET', `/v1/runs/${runId}`);
  await api.registry.door.shut();
  try {
    const read = await member('GET', `/api/runs/${runId}`);
    assertRefused(read, 503, 'unavailable');
    assert.ok(!JSON.stringify(read.body).includes(method.id));
    assert.equal((await byKey('GET', `/v1/runs/${runId}`)).status, 200);
    assert.equal((await byKey('POST', `/v1/runs/${runId}/cancel`)).status, 200);
    assertRefused(await member('POST', `/api/runs/${runId}/cancel`), 503, 'unavailable');
  } finally {
    await api.registry.door.open();
  }
  await until('what happened is told after all', async () => {
    const { status, body } = await admin('GET', `/api/audit?target=${runId}&action=run.cancel`);
    return status === 200 && body.items.length === 2;
  });
  assert.ok(!(await actsOn(runId)).includes('run.read'));
});

test('a read of a source is recorded', async () => {
  await viewer('GET', `/api/methods/${method.id}/versions/${method.versionId}`);
  await until('the reading is told', async () => (await actsOn(method.versionId)).includes('version.read'));
});

test('a list selects, pages and shows no content', async () => {
  const runId = await started();
  const query =
    `text=No%201&limit=7&status=waiting&method=${method.id}&metadata.customer=7&metadata.a.b=${encodeURIComponent('x y')}` +
    `&created_after=2026-01-01T00:00:00Z&created_before=2026-01-01T02:00:00.500%2B01:00&rerun_of=${runId}`;
  for (const [as, url] of [
    [viewer, '/api/runs'],
    [byKey, '/v1/runs'],
    [viewer, '/v1/runs'],
  ] as const) {
    const { status, body } = await as('GET', `${url}?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.next_cursor, 'more');
    const item = body.items.find(({ run_id }: { run_id: RunId }) => run_id === runId);
    assert.deepEqual([item.method, item.status, item.kind], [`wf_${method.id}`, 'queued', undefined]);
    assert.ok(!('steps' in item || 'result' in item || 'question' in item));
    const { $typeName, ...list } = book.lists.at(-1) ?? ({} as never);
    assert.equal($typeName, 'methods.scheduler.v1.ListRuns');
    assert.deepEqual(
      { ...list, orgId: '', metadata: { ...list.metadata } },
      {
        orgId: '',
        cursor: '',
        ...{ limit: 7, status: 3 },
        method: `wf_${method.id}`,
        metadata: { customer: '7', 'a.b': 'x y' },
        createdAfterMs: Date.parse('2026-01-01T00:00:00Z'),
        createdBeforeMs: Date.parse('2026-01-01T01:00:00.500Z'),
        ...{ versionId: '', startedBy: '', rerunOf: runId, text: 'No 1', errorLines: url === '/api/runs' },
      },
    );
  }
  assert.equal((await viewer('GET', '/api/runs?cursor=more')).body.next_cursor, null);
  assert.deepEqual((await stranger('GET', '/api/runs')).body, { items: [], next_cursor: 'more', searched_to: null });
  assert.deepEqual((await viewer('GET', '/api/runs?method=none')).body.items, []);
});

test('a list refuses invalid filters', async () => {
  const pairs = Array.from({ length: 33 }, (_, i) => `metadata.k${i}=v`).join('&');
  const bad = [
    'status=done',
    'statuses=waiting',
    'limit=201',
    'created_after=yesterday',
    'created_before=2026-13-01T00:00:00Z',
    'created_after=2026-01-01',
    'status=queued&status=waiting',
    'metadata=x',
    'metadata.=x',
    'metadata.__proto__=x',
    `metadata.k=${'x'.repeat(513)}`,
    'kind=all',
    'kind=local&created_after=2026-01-01T00:00:00Z',
    'kind=local&metadata.k=v',
    pairs,
  ];
  for (const query of bad) assertRefused(await viewer('GET', `/api/runs?${query}`), 400, 'invalid_request');
  assertRefused(await byKey('GET', '/v1/runs?kind=local'), 400, 'invalid_request');
});

test('records of local runs are listed apart, marked as such, and found by id', async () => {
  const runId = newRunId(1);
  const record = {
    ...{ workflow_id: method.id, version_id: method.versionId, sequence: 3 },
    inspection: { status: 'succeeded', note: 'seen' },
  };
  const kept = await member('PUT', `/api/cli/runs/${runId}`, record);
  assert.equal(kept.status, 200, JSON.stringify(kept.body));
  const { body } = await viewer('GET', `/api/runs?kind=local&status=succeeded&method=wf_${method.id}`);
  assert.equal(body.next_cursor, null);
  const [item] = body.items;
  assert.deepEqual(item, {
    run_id: runId,
    kind: 'local',
    method: `wf_${method.id}`,
    version_id: method.versionId,
    status: 'succeeded',
    sequence: 3,
    created_at: item.created_at,
    updated_at: item.updated_at,
    created_by: { ...item.created_by, kind: 'user' },
  });
  assert.deepEqual((await viewer('GET', '/api/runs?kind=local&status=failed')).body.items, []);
  const production = (await viewer('GET', '/api/runs')).body.items;
  assert.ok(!production.some(({ run_id }: { run_id: RunId }) => run_id === runId));

  const one = await viewer('GET', `/api/runs/${runId}`);
  assert.deepEqual(one.body, { ...item, inspection: record.inspection });
  assert.deepEqual(await actsOn(runId).then((acts) => acts.at(-1)), 'run.read');
  assertRefused(await stranger('GET', `/api/runs/${runId}`), 404, 'not_found');
  assertRefused(await byKey('GET', `/v1/runs/${runId}`), 404, 'not_found');
  assertRefused(await viewer('GET', `/api/runs/${newRunId(1)}`), 404, 'not_found');
});

test("an organization's rules for webhooks and plain content count at the next start", async () => {
  const start = (webhook_url?: string) =>
    byKey('POST', '/v1/runs', { method: method.id, ...(webhook_url === undefined ? {} : { webhook_url }) });
  assert.equal((await start('https://elsewhere.example/hook')).status, 201);
  await admin('PATCH', '/api/settings', { webhook_hosts: ['hooks.example.com', '*.shop.example.com'] });
  for (const allowed of ['hooks.example.com', 'HOOKS.example.com.', 'eu.shop.example.com', 'a.b.shop.example.com']) {
    assert.equal((await start(`https://${allowed}/hook`)).status, 201, allowed);
  }
  for (const other of ['elsewhere.example', 'shop.example.com', 'x.hooks.example.com', 'evilshop.example.com']) {
    assertRefused(await start(`https://${other}/hook`), 422, 'invalid_webhook_url');
  }
  assert.equal((await start()).status, 201);

  const keyed = { method: method.id, idempotency_key: `first-${randomUUID()}` };
  const first = await byKey('POST', '/v1/runs', keyed);
  await admin('PATCH', '/api/settings', { webhook_hosts: [], content_on_devices: true });
  assertRefused(await start(), 422, 'device_mode_required');
  assertRefused(await member('POST', '/api/runs', { method: method.id }), 422, 'device_mode_required');
  const again = await byKey('POST', '/v1/runs', keyed);
  assert.deepEqual([again.status, again.body.run_id], [200, first.body.run_id], 'what is there is still found');
  await admin('PATCH', '/api/settings', { content_on_devices: false });
  assert.equal((await start()).status, 201);
});

test('a change of settings through another gateway arrives over the bus', async () => {
  await started();
  const { body } = await admin('GET', '/api/whoami');
  const doer = { kind: 'user', id: body.user.id, ip: '203.0.113.7', requestId: newId('aud') };
  await api.registry.accounts.changeSettings({ orgId: body.organization.id, contentOnDevices: true, doer });
  await until('the next start is refused', async () => {
    return (await member('POST', '/api/runs', { method: method.id })).status === 422;
  });
  await admin('PATCH', '/api/settings', { content_on_devices: false });
  assert.equal((await member('POST', '/api/runs', { method: method.id })).status, 201);
});

test('a person cannot rerun a run with a webhook, and nothing is started', async () => {
  const runId = await started(byKey, '/v1/runs', { webhook_url: 'https://example.com/hook' });
  const starts = book.starts.length;
  for (const base of ['/api/runs', '/v1/runs']) {
    for (const body of [{}, { from_step: 'approve' }, { idempotency_key: `again-${runId}` }]) {
      const refused = await member('POST', `${base}/${runId}/rerun`, body);
      assertRefused(refused, 403, 'forbidden');
      assert.match(refused.body.message, /run it again with a service key/);
    }
  }
  assert.equal(book.starts.length, starts);
});

test("a person's rerun of a run that a key started belongs to no key: the person is its starter", async () => {
  await member('POST', `/api/runs/${await started(byKey, '/v1/runs')}/rerun`);
  const start = book.starts.at(-1);
  assert.deepEqual([start?.keyId, start?.starter?.personId], ['', (await member('GET', '/api/whoami')).body.user.id]);
});

test('people follow all runs of their organization as lists show them, by token and by cookie', async () => {
  const { organization, user } = (await viewer('GET', '/api/whoami')).body;
  const session = await api.session(organization.id, user.id);
  // Even where programs get content, people get none.
  const opened = { '/api/events': 'acme', '/api/events?since=': session.headers, '/v1/events': 'acme' };
  const readers = await Promise.all(Object.entries(opened).map(([path, as]) => api.follow(path, as)));
  const stranger = await api.follow('/api/events', 'others');
  await until('all begin', () => [...readers, stranger].every(({ names }) => names[0] === 'ready'));
  const run = book.ask(await started());
  node.news(organization.id, NewsDetail.CHANGES, run);
  await member('POST', `/api/methods/${method.id}/publish`, { version_id: method.versionId });
  await until('all have it', () =>
    readers.every(({ names }) => names.includes('method') && names.includes('question')),
  );
  for (const { events } of readers) {
    const of = (name: string) => events.find(({ event }) => event === name)?.data;
    assert.deepEqual([of('run').run_id, of('run').status, of('run').question.step], [run.runId, 'waiting', 'approve']);
    assert.deepEqual([of('question').question.id, of('method').method_id], [run.question?.id, method.id]);
    assert.equal(/Send it|result|"steps"/.test(JSON.stringify(events)), false);
  }
  await session.end();
  await until('the session loses its stream', () => readers[1]?.over === true);
  assert.deepEqual(readers[1]?.events.at(-1)?.data, { reason: 'unauthorized' });
  assert.deepEqual([readers[0]?.over, readers[2]?.over, stranger.names], [false, false, ['ready']]);
  for (const reader of [...readers, stranger]) reader.leave();
});
