// A stack filled by `npm run seed`, and what people do with many runs on it: look for them, open a large one, answer a
// question, and change many at once.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import { until } from '../harness/until.ts';
import { ApiClient, type Reply } from './api-client.ts';
import { type Stack, startStack } from './stack.ts';

const RUNS = 600;
const QUESTIONS = 20;
const SEED = nodeArguments(new URL('../../deploy/local/src/seed/main.ts', import.meta.url));
const BULK_MS = 120_000;

let stack: Stack;
let person: ApiClient;
let seeded: ReturnType<typeof seed>;

function seed(...args: string[]) {
  const env = { ...process.env, XDG_STATE_HOME: join(dirname(stack.ready.data_dir), 'state') };
  return spawnSync(process.execPath, [...SEED, '--data-dir', stack.ready.data_dir, ...args], { encoding: 'utf8', env });
}

before(async () => {
  stack = await startStack('seeded', { args: ['--workers', '0', '--no-demo'] });
  seeded = seed('--runs', String(RUNS), '--methods', '12', '--questions', String(QUESTIONS));
  const asked = { email: 'developer@example.com', organization: 'Local', role: 'admin', audience: 'machine' } as const;
  person = new ApiClient(stack.ready.base_url, await fetchToken(chooseStack(stack.ready.data_dir), asked));
});
after(() => stack?.stop());

async function get(path: string) {
  const reply = await person.request('GET', path);
  assert.equal(reply.status, 200, `${path}: ${reply.text}`);
  return JSON.parse(reply.text);
}

async function post(path: string, body?: object) {
  const reply: Reply = await person.request('POST', path, body === undefined ? {} : { body });
  assert.ok(reply.status < 300, `${path}: ${reply.status} ${reply.text}`);
  return JSON.parse(reply.text);
}

/** All pages. */
async function listed(query: string): Promise<{ run_id: string; status: string; error?: { message?: string } }[]> {
  const items = [];
  for (let cursor = ''; ; ) {
    const page = await get(`/api/runs?limit=200&${query}${cursor}`);
    items.push(...page.items);
    if (page.next_cursor === null) return items;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

async function done(id: string) {
  let bulk: Record<string, never> & { state: string; counts: object } = { state: '', counts: {} } as never;
  const over = async () => {
    ({ bulk } = await get(`/api/bulk/${id}`));
    return bulk.state === 'done';
  };
  await until(`${id} is done`, over, BULK_MS);
  return bulk;
}

test('a seed says what it does, and fills a stack with runs in all states', async () => {
  assert.equal(seeded.status, 0, seeded.stderr);
  assert.match(seeded.stdout, /straight into its tables/);
  const { totals, complete } = await get('/api/runs/statistics?last=30d&buckets=30');
  assert.equal(complete, true);
  const counts = Object.values(totals) as number[];
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    RUNS,
  );
  assert.ok(
    counts.every((count) => count > 0),
    JSON.stringify(totals),
  );
  assert.equal(totals.waiting, QUESTIONS);
});

test('failed runs say why in the list, and are grouped by their cause', async () => {
  const failed = await listed('status=failed');
  assert.ok(failed.length > 20 && failed.every(({ error }) => error?.message));
  const { items, matches } = await get('/api/runs/failures');
  assert.equal(matches, failed.length);
  assert.ok(items.length < failed.length && items[0].count > 1);
});

test('a run of 5,000 steps opens folded, its rounds a page at a time, and a large value in parts', async () => {
  const [first, second] = (await listed('status=succeeded')).toReversed();
  const folded = await get(`/api/runs/${first?.run_id}/steps?fold=true`);
  const loop = folded.items.find(({ rounds }: { rounds?: object }) => rounds !== undefined);
  assert.deepEqual(loop.rounds, { succeeded: 2_475, failed: 25 });
  const rounds = await get(`/api/runs/${first?.run_id}/steps?under=apply&limit=1000`);
  assert.deepEqual([rounds.items.length, rounds.counts.succeeded + rounds.counts.failed], [1_000, 5_000]);
  const value = await get(`/api/runs/${second?.run_id}/values?of=output&step=fetch`);
  assert.ok(value.bytes > 1_000_000 && value.text.length <= 16_384 && value.next_offset > 0);
});

test('a question of a seeded run is answered, and the run continues', async () => {
  const [question] = (await get('/api/inbox')).items;
  await post(`/api/questions/${question.id}/answer`, { answer: { approve: true } });
  const run = await get(`/api/runs/${question.run_id}`);
  assert.deepEqual([run.status, run.pending.reason], ['queued', 'no_worker']);
});

test('many queued runs are cancelled at once: first prepared, then followed to the end', async () => {
  const before = await listed('status=queued');
  const { bulk } = await post('/api/bulk', { action: 'cancel', filter: { status: 'queued' } });
  assert.deepEqual([bulk.state, bulk.counts.todo, bulk.by.kind], ['prepared', before.length, 'user']);
  assert.equal((await listed('status=queued')).length, before.length, 'nothing has happened yet');
  await post(`/api/bulk/${bulk.id}/start`);
  assert.deepEqual((await done(bulk.id)).counts, { total: before.length, todo: 0, done: before.length, failed: 0 });
  assert.deepEqual(await listed('status=queued'), []);
  const isOfIt = ({ after }: { after: { bulk_id?: string } }) => after.bulk_id === bulk.id;
  await until('its cancels are in the audit log', async () => {
    const { items } = await get(`/api/audit?action=run.cancel&limit=200`);
    return items.filter(isOfIt).length >= before.length;
  });
});

test('failed runs are started again from the step that failed, once each', async () => {
  const failed = (await listed('status=failed')).slice(0, 30).map(({ run_id }) => run_id);
  const [other = ''] = (await listed('status=succeeded')).map(({ run_id }) => run_id);
  const { bulk } = await post('/api/bulk', { action: 'rerun_failed_step', run_ids: [...failed, other] });
  assert.deepEqual([bulk.counts.total, bulk.passed_over], [30, [{ reason: 'not_failed', count: 1 }]]);
  for (let repeat = 0; repeat < 2; repeat++) await post(`/api/bulk/${bulk.id}/start`);
  const { counts } = await done(bulk.id);
  const { items } = await get(`/api/bulk/${bulk.id}/items?limit=200`);
  assert.deepEqual(counts, { total: 30, todo: 0, done: 30, failed: 0 }, JSON.stringify(items));
  const started: string[] = items.map(({ new_run_id: id }: { new_run_id: string }) => id);
  assert.equal(new Set(started).size, 30);
  const run = await get(`/api/runs/${started[0]}`);
  assert.deepEqual([run.status, run.started_by.kind], ['queued', 'user']);
  assert.equal(run.steps.find(({ name }: { name: string }) => name === 'fetch').status, 'succeeded', 'it was kept');
});

test('a change that is stopped does no more', async () => {
  const { bulk } = await post('/api/bulk', { action: 'cancel', filter: { status: 'waiting' } });
  const stopped = (await post(`/api/bulk/${bulk.id}/stop`)).bulk;
  assert.equal(stopped.state, 'stopped');
  assert.equal((await post(`/api/bulk/${bulk.id}/start`)).bulk.state, 'stopped');
  assert.ok((await get('/api/bulk')).items.some(({ id }: { id: string }) => id === bulk.id));
  assert.equal((await get(`/api/bulk/${bulk.id}`)).bulk.counts.done, 0);
});

test('a new organization sees how far it has got', async () => {
  const nothing = { method_saved: false, key_made: false, worker_connected: false, run_finished: false };
  const asked = { email: 'new@example.com', organization: 'New', role: 'admin', audience: 'machine' } as const;
  const stranger = new ApiClient(stack.ready.base_url, await fetchToken(chooseStack(stack.ready.data_dir), asked));
  assert.deepEqual(JSON.parse((await stranger.request('GET', '/api/first-steps')).text), nothing);
  const all = { method_saved: true, key_made: true, worker_connected: false, run_finished: true };
  assert.deepEqual(await get('/api/first-steps'), all);
});

test('usage is a file whose lines add up to all runs, and whose cells are no formulas', async () => {
  const reply = await person.request('GET', '/api/usage/csv?from=2020-01-01&to=2020-12-31');
  assert.equal(reply.text.trim().split('\r\n').length, 1, 'no runs, but the names of the columns');
  const { text, headers } = await person.request('GET', `/api/usage/csv?from=${dayBefore(60)}`);
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="usage-/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  const [names, ...lines] = text.trim().split('\r\n');
  assert.match(names ?? '', /^day,method,name,runs,/);
  assert.ok(lines.length > 12 && lines.every((line) => /^\d{4}-\d\d-\d\d,wf_/.test(line)));
  assert.ok(!/(^|,)"?[=+@-]/m.test(lines.join('\n').replaceAll(/,-?\d/g, ',0')));
});

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}
