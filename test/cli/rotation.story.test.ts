// A key is rotated while runs in device mode wait: what it sealed is opened, answered and continued with the new key, and
// with the key after that.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { CliEnd } from '@methods/cli/cli.fixture';
import { Methods } from '@methods/client/index';
import { NodeApp } from '../e2e/node-app.ts';
import type { Stack } from '../e2e/stack.ts';
import { until } from '../harness/until.ts';
import { commonStack } from './common-stack.ts';
import { LossyServer } from './lossy-server.ts';
import { pythonApp } from './python-app.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';
import { StartedWorker } from './started-worker.ts';

interface NewKey {
  readonly key: { readonly id: string; readonly name: string };
  readonly service_key: string;
  readonly webhook_secret: string;
  readonly content_granted?: readonly string[];
  readonly content_lost?: readonly string[];
}

const INPUTS = { order_id: 'ord_canary7', amount: 250 };
const PROMPT = 'Refund 250 EUR to ord_canary7@example.com?';

let stack: Stack;
let desk: StackDesk;
let method: string;

before(async () => {
  stack = await commonStack();
  desk = await stackDesk(stack);
  method = stack.method('approve');
});
after(() => desk?.folder.remove());

const keyed = (key: string) => ({ ...desk.env, SERVICE_API_KEY: key });
const methods = (key: string, ...args: string[]): Promise<CliEnd> => desk.folder.methods(args, keyed(key));
const client = (key: string) =>
  new Methods({ apiKey: key, baseUrl: stack.ready.base_url, runData: 'device', worker: false });

async function created(name: string): Promise<NewKey> {
  const made = await desk.folder.json<NewKey>(['keys', 'create', '--name', name], desk.env);
  assert.equal(made.code, 0, made.stderr);
  return made.document;
}

function documentOf<T>({ code, stdout, stderr }: CliEnd): T {
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as T;
}

/** A run of an application that answers its questions, which its worker has brought to its question before both left. */
async function waitingRun({ service_key: key }: NewKey, idempotencyKey: string): Promise<string> {
  const worker = new StartedWorker({ ...desk, env: keyed(key) }, '--method', method);
  const leaving = new AbortController();
  const running = client(key).run({
    ...{ method, inputs: INPUTS, idempotencyKey, signal: leaving.signal },
    onAsk: () => undefined,
  });
  const { run_id: runId = '' } = await worker.says('the run waits', ({ end }) => end === 'waiting');
  leaving.abort(new Error('the application leaves'));
  await assert.rejects(running, { message: 'the application leaves' });
  worker.signal('SIGTERM');
  await worker.exited;
  return runId;
}

async function rotated(of: NewKey, args: readonly string[], env: Readonly<Record<string, string>>): Promise<NewKey> {
  const end = await desk.folder.methods(['keys', 'rotate', of.key.id, '--json', ...args], env);
  assert.ok(!end.stderr.includes(of.service_key));
  return documentOf<NewKey>(end);
}

test('runs that wait are opened, answered and continued with the keys after theirs, in every program', async (t) => {
  const a = await created('shop');
  const names = ['order-node', 'order-python', 'order-cli'] as const;
  const [byNode, byPython, byCli] = [
    await waitingRun(a, names[0]),
    await waitingRun(a, names[1]),
    await waitingRun(a, names[2]),
  ];
  await desk.folder.write('.env', `SERVICE_API_KEY=${a.service_key}\n`);
  const b = await rotated(a, [], desk.env);
  assert.deepEqual([b.key.name, b.content_granted], ['shop', [a.key.id]]);
  const ofB = await waitingRun(b, 'order-of-b');
  await desk.folder.write('old-key.txt', `${b.service_key}\n`);
  const c = await rotated(b, ['--key-file', 'old-key.txt', '--name', 'new shop'], keyed(a.service_key));
  assert.deepEqual([c.key.name, c.content_granted, c.content_lost], ['new shop', [b.key.id, a.key.id], []]);
  const ofA = client(a.service_key);
  const { run_id: started } = await ofA.start({ method, inputs: INPUTS, idempotencyKey: 'order-started' });
  const { run_id: startedAgain } = await ofA.start({ method, inputs: INPUTS, idempotencyKey: 'order-again' });
  for (const { key } of [a, b]) assert.equal((await methods(c.service_key, 'keys', 'revoke', key.id)).code, 0);

  // Without the key, and with one that is neither its own nor granted.
  await desk.folder.write('.env', '');
  const stranger = await created('stranger');
  for (const key of [desk.env, keyed(stranger.service_key)]) {
    const shown = await desk.folder.methods(['runs', 'show', byCli], key);
    assert.match(shown.stderr, /does not open run_\w+: Another content key sealed this value\.$/m);
    assert.ok(!`${shown.stdout}${shown.stderr}`.includes('ord_canary7'));
    const refused = await desk.folder.methods(['answer', byCli, '--answer', '{"decision":"approve"}'], key);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /does not open run_/);
  }

  // The command line.
  const shown = await methods(c.service_key, 'runs', 'show', byCli);
  assert.ok(shown.stdout.includes(PROMPT), shown.stdout + shown.stderr);
  const misfit = await methods(c.service_key, 'answer', byCli, '--answer', '{"decision":"perhaps"}');
  assert.match(misfit.stderr, /decision/);
  assert.equal((await methods(c.service_key, 'answer', byCli, '--answer', '{"decision":"approve"}')).code, 0);

  // Another start with the same key and values is the same run, also from the key after it; with others it is not.
  const later = client(c.service_key);
  assert.equal((await later.start({ method, inputs: INPUTS, idempotencyKey: 'order-started' })).run_id, started);
  const [one, other] = await later.startMany([
    { method, inputs: INPUTS, idempotencyKey: 'order-again' },
    { method, inputs: { ...INPUTS, amount: 251 }, idempotencyKey: 'order-again' },
  ]);
  assert.deepEqual([one?.run?.run_id, other?.error?.code], [startedAgain, 'idempotency_conflict']);
  const differs = later.start({ method, inputs: { ...INPUTS, amount: 251 }, idempotencyKey: 'order-started' });
  await assert.rejects(differs, { name: 'ConflictError', code: 'idempotency_conflict' });

  // The question is closed: the same answer is a repeat, another one is refused.
  const answered = (await later.runs.get(byCli)).answers?.at(-1)?.question_id ?? assert.fail();
  await later.runs.answer(byCli, { decision: 'approve' }, { questionId: answered });
  const changed = later.runs.answer(byCli, { decision: 'reject' }, { questionId: answered });
  await assert.rejects(changed, { name: 'ConflictError' });

  // An application attaches to the run that its earlier version started, and its own worker continues it.
  const app = await NodeApp.create(stack);
  const program = await app.start(
    'app.mjs',
    `import { Methods } from '@methods/client';
const methods = new Methods({ runData: 'device' });
const run = await methods.run({ method: '${method}', inputs: ${JSON.stringify(INPUTS)}, idempotencyKey: '${names[0]}',
  onAsk: ({ question }) => (console.log(question.prompt), { decision: 'approve', note: 'node' }) });
console.log(run.run_id, run.status, run.result.note);`,
    { SERVICE_API_KEY: c.service_key },
  );
  assert.equal(await program.ended, 0, program.errors());
  assert.deepEqual(program.lines, [PROMPT, `${byNode} succeeded node`]);

  const python = await pythonApp(t, stack);
  if (python !== null) {
    const said = await python(
      `from methods import Methods
def on_ask(asked):
    print(asked.question.prompt)
    return {"decision": "approve", "note": "python"}
with Methods(device=True) as client:
    run = client.run("${method}", ${JSON.stringify(INPUTS)}, idempotency_key="${names[1]}", on_ask=on_ask)
    print(run.run_id, run.status, run.result["note"])
    again = client.runs.answer(run.run_id, {"decision": "approve", "note": "python"})
    print(again.run_id == run.run_id)`,
      c.service_key,
    );
    assert.deepEqual(said.split('\n'), [PROMPT, `${byPython} succeeded python`, 'True']);
  } else await later.runs.cancel(byPython);

  // A worker of its own; the run of the second key is continued by the third.
  const worker = new StartedWorker({ ...desk, env: keyed(c.service_key) }, '--method', method);
  await later.runs.answer(ofB, { decision: 'approve', note: 'b' });
  const line = await worker.says('its result is printed', (each) => each.run_id === ofB && each.event === 'result');
  assert.deepEqual((line as unknown as { result: object }).result, { refunded: true, note: 'b', copies: 1 });
  // The application of Node or Python has continued it, if not this worker.
  await until('the run answered on the command line has succeeded', async () => {
    return (await later.runs.get(byCli)).status === 'succeeded';
  });
  worker.signal('SIGTERM');
  await worker.exited;

  // New runs are sealed with the newest key only.
  const { run_id: fresh } = await later.start({ method, inputs: INPUTS });
  const { content_grants: grants } = await stack.api
    .as(c.service_key)
    .request('GET', '/v1/whoami')
    .then((reply) => reply.read<{ content_grants: unknown[] }>());
  assert.equal(grants.length, 2);
  const closed = await methods(stranger.service_key, 'runs', 'show', fresh);
  assert.match(closed.stderr, /does not open/);
  for (const runId of [fresh, started, startedAgain]) await later.runs.cancel(runId).catch(() => {});
});

test('a rerun after a rotation reads the files that the old key sealed, on its worker and in both libraries', async (t) => {
  const keeping = stack.method('keep-private');
  const old = await created('files');
  const bytes = Buffer.from('a letter of before');
  const letter = await client(old.service_key).files.upload(bytes, { name: 'letter.txt' });
  const first = await client(old.service_key).start({ method: keeping, inputs: { word: 'w', letter } });
  const next = await rotated(old, [], keyed(old.service_key));
  const later = client(next.service_key);
  const { run_id: runId } = await later.runs.rerun(first.run_id);
  const worker = new StartedWorker({ ...desk, env: keyed(next.service_key) }, '--method', keeping);
  await until('the rerun has read the file and asks', async () => {
    const { status, error } = await later.runs.get(runId);
    assert.notEqual(status, 'failed', JSON.stringify(error));
    return status === 'waiting';
  });
  const path = `inputs/${letter.file_id}/letter.txt`;
  for (const id of [runId, first.run_id])
    assert.deepEqual(await buffer(await later.runs.files.download(id, path)), bytes);
  const [kept] = await later.runs.files.list(runId);
  assert.match(kept?.path ?? '', /^steps\/keep\/files\/w letter\.txt$/);
  const python = await pythonApp(t, stack);
  const said = await python?.(
    `from methods import Methods
with Methods(device=True) as client:
    print(client.runs.files.download("${runId}", "${path}").decode())`,
    next.service_key,
  );
  assert.equal(said ?? bytes.toString(), bytes.toString());
  worker.signal('SIGTERM');
  await worker.exited;
  for (const id of [runId, first.run_id]) await later.runs.cancel(id).catch(() => {});
});

test('a rotation that was interrupted continues with the same key, and makes nothing twice', async () => {
  const server = await LossyServer.start(stack.ready.base_url);
  const there = await stackDesk(stack, server.url);
  try {
    const old = await created('interrupted');
    const env = { ...there.env, SERVICE_API_KEY: old.service_key };
    const rotate = () => there.folder.methods(['keys', 'rotate', old.key.id, '--json'], env);
    server.fate = 'broken';
    // The key is made, then its grant, and each time the reply is lost.
    for (const spared of [0, 1]) {
      server.spared = spared;
      const end = await rotate();
      assert.equal(end.code, 1, end.stdout);
      assert.match(end.stderr, /it continues with the same new key/);
    }
    server.fate = 'answered';
    const made = documentOf<NewKey>(await rotate());
    assert.match(made.webhook_secret, /^whsec_/);
    const list = await desk.folder.json<{ items: { id: string; name: string }[] }>(['keys', 'list'], desk.env);
    const named = list.document.items.filter(({ name }) => name === 'interrupted').map(({ id }) => id);
    assert.deepEqual(named.sort(), [old.key.id, made.key.id].sort());
    const rows = await stack.sql`select action from registry.audit where target_id = ${made.key.id} order by 1`;
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['key.create', 'key.grant_content'],
    );

    // It was shown: the next rotation of the same key makes another one.
    const second = documentOf<NewKey>(await rotate());
    assert.notEqual(second.service_key, made.service_key);

    // The server is not there at all.
    await server.stop();
    const gone = await rotate();
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /unreachable/);
  } finally {
    await server.stop().catch(() => {});
    await there.folder.remove();
  }
});

test('a rotation that is killed before or after any of its requests continues, and makes nothing twice', async () => {
  const server = await LossyServer.start(stack.ready.base_url);
  const there = await stackDesk(stack, server.url);
  try {
    const oldest = await created('killed');
    const waiting = await client(oldest.service_key).start({ method, inputs: INPUTS });
    const old = await rotated(oldest, [], keyed(oldest.service_key));
    const env = { ...there.env, SERVICE_API_KEY: old.service_key };
    const args = ['keys', 'rotate', old.key.id, '--json'];
    // The key is made, then the grant of the old key and that of the oldest. A repeat asks for the key again, and for
    // the grants that are missing.
    for (const [fate, spared] of [
      ['unheard', 0],
      ['lost', 0],
      ['unheard', 1],
      ['lost', 1],
      ['lost', 1],
    ] as const) {
      Object.assign(server, { fate, spared });
      const before = server.unanswered;
      const killed = there.folder.spawn(args, env);
      await until(`${fate} after ${spared}: the request waits`, () => server.unanswered > before);
      killed.kill('SIGKILL');
      await once(killed, 'close');
    }
    server.fate = 'answered';
    const made = documentOf<NewKey>(await there.folder.methods(args, env));
    assert.deepEqual(made.content_granted, [old.key.id, oldest.key.id]);
    const rows = await stack.sql`select action from registry.audit where target_id = ${made.key.id} order by 1`;
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['key.create', 'key.grant_content', 'key.grant_content'],
    );
    const [{ count } = { count: 0 }] = await stack.sql`
      select count(*)::int as count from registry.service_keys where name = 'killed'`;
    assert.equal(count, 3);
    for (const { key } of [oldest, old]) assert.equal((await methods('', 'keys', 'revoke', key.id)).code, 0);
    const again = await client(made.service_key).runs.rerun(waiting.run_id);
    for (const id of [waiting.run_id, again.run_id]) await client(made.service_key).runs.cancel(id);
  } finally {
    await server.stop().catch(() => {});
    await there.folder.remove();
  }
});

test('a key that is not the old one is refused before anything is made, also in place of a revoked one', async () => {
  const [old, other] = [await created('wrong key'), await created('other')];
  const count = async () =>
    (await stack.sql`select 1 from registry.service_keys where name = 'wrong key' and revoked_at is null`).length;
  const rotate = (key: string, ...args: string[]) => methods(key, 'keys', 'rotate', old.key.id, ...args);
  const isAnother = await rotate(other.service_key);
  assert.match(isAnother.stderr, new RegExp(`SERVICE_API_KEY is ${other.key.id}, not ${old.key.id}`));
  assert.match((await rotate(old.service_key.slice(0, 46))).stderr, /without its content part/);
  assert.match((await rotate(`${old.service_key.slice(0, -1)}!`)).stderr, /is not a service key/);
  assert.match((await rotate(old.service_key, '--key-file', 'none.txt')).stderr, /cannot read none\.txt/);
  await desk.folder.write('.env', '');
  const missing = await desk.folder.methods(['keys', 'rotate', old.key.id], desk.env);
  assert.match(missing.stderr, /the old key key_\w+ is not here/);
  assert.equal(await count(), 1);

  const runId = await waitingRun(old, 'order-of-revoked');
  await methods(old.service_key, 'keys', 'revoke', old.key.id);
  assert.match((await rotate(other.service_key)).stderr, /not key_/);
  const revoked = await created('never of this name');
  await methods(old.service_key, 'keys', 'revoke', revoked.key.id);
  assert.match((await rotate(revoked.service_key)).stderr, /SERVICE_API_KEY is not key_/);
  assert.equal(await count(), 0);
  const made = await rotated(old, [], keyed(old.service_key));
  const prompt = async () => (await client(made.service_key).runs.get(runId)).question?.prompt;
  assert.equal(await until('its question opens', prompt), PROMPT);
  await client(made.service_key).runs.cancel(runId);
});
