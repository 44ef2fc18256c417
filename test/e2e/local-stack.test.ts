// The life of local stacks: side by side, one after another on the same data, stopped in order and killed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ReadyLine } from '@methods/local-stack/stack';
import postgres from 'postgres';
import { until } from '../harness/until.ts';
import { ApiClient } from './api-client.ts';
import { answerByLink, mailedLink } from './mailed-question.ts';
import { NO_SIGN_IN, type StackFolder, StackProcess, stackFolder } from './stack-process.ts';
import { processesOf } from './stack-processes.ts';

const SERVE = ['--json', '--port', '0'];
const PARTS = [
  ...['postgres', 'nats', 'identity-provider', 'method-registry', 'notifier-1'],
  ...['run-scheduler-1', 'gateway-1', 'worker-1'],
];

describe('a local stack', () => {
  const [first, second]: [StackFolder, StackFolder] = [stackFolder('local-a'), stackFolder('local-b')];
  const started: StackProcess[] = [];
  let a: StackProcess;
  let b: StackProcess;
  let readyA: ReadyLine;
  let readyB: ReadyLine;
  let runId: string;

  const start = (folder: StackFolder, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
    const stack = new StackProcess({ ...folder, args: [...SERVE, ...args], env });
    started.push(stack);
    return stack;
  };
  const api = ({ base_url: url, api_key: key }: ReadyLine) => new ApiClient(url, key);
  const readyFiles = ({ stateDir }: StackFolder) => {
    const folder = join(stateDir, 'methods', 'stacks');
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  };
  const isGone = (folder: StackFolder) =>
    until('nothing is left running', () => processesOf(folder.dataDir).length === 0);

  before(async () => {
    // Both at once: neither may be in the other's way.
    // The first one finds what gateways serve by itself, also where the test run has built it.
    a = start(first, [], { PACKAGES_DIR: '', DASHBOARD_DIR: '' });
    b = start(second, ['--mail']);
    [readyA, readyB] = await Promise.all([a.ready, b.ready]);
  });
  after(async () => {
    for (const stack of started) await stack.stop('SIGKILL');
    await Promise.all([isGone(first), isGone(second)]);
    first.remove();
    second.remove();
  });

  test('lists its parts by name, each with the process that really serves and a folder of its own', () => {
    assert.deepEqual(
      readyA.processes.map(({ name }) => name),
      PARTS,
    );
    for (const { name, pid } of readyA.processes) {
      assert.ok(
        processesOf(first.dataDir).some((found) => found.pid === pid),
        name,
      );
      assert.ok(statSync(join(first.dataDir, name, 'log')).size > 0, name);
    }
    assert.deepEqual(Object.keys(readyA.methods), ['approve-refund', 'greet-customer']);
    assert.equal(a.stdout.length, 1, 'one line on standard output');
  });

  test('is found by other programs of its user through a file that no one else can read', () => {
    const [file = '', ...others] = readyFiles(first);
    assert.deepEqual(others, []);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), readyA);
  });

  test('runs beside another one with keys and data of its own', async () => {
    assert.notEqual(readyA.api_key, readyB.api_key);
    const run = await api(readyA).startSettled({ method: readyA.methods['greet-customer'], inputs: { name: 'Ada' } });
    assert.equal(run.status, 'succeeded');
    runId = run.run_id;
    assert.equal((await api(readyB).as(readyA.api_key).get(runId)).status, 401);
    assert.equal((await api(readyB).get(runId)).status, 404);
    const other = await api(readyB).startSettled({ method: readyB.methods['greet-customer'] });
    assert.equal(other.status, 'succeeded');
  });

  test('mails the question of an example to its development admin, whose link answers it', async () => {
    assert.deepEqual([readyA.mail_url, readyA.mail_to], [null, null], 'programs start it without a mailbox');
    const inputs = { order_id: 'ord_7f3', amount: 250, reason: 'damaged' };
    const started = await api(readyB).start({ method: readyB.methods['approve-refund'], inputs });
    const link = await mailedLink(readyB.mail_url ?? '', `&lt;${readyB.mail_to}&gt;`);
    assert.ok(link.startsWith(`${readyB.base_url}/a/`));
    assert.match(await answerByLink(link, { '/decision': '"approve"', comment: 'By mail' }), /Sent: /);
    const { run } = await until('the run ends', async () => {
      const reply = await api(readyB).get(started.run.run_id);
      return reply.run.status === 'succeeded' ? reply : null;
    });
    assert.deepEqual(run.result, { refunded: true, refund_id: 're_7f3', note: null });
    assert.deepEqual(
      run.answers?.map(({ channel }) => channel),
      ['link'],
    );
    const token = link.split('/a/')[1] ?? link;
    for (const { name } of readyB.processes) {
      assert.ok(!readFileSync(join(second.dataDir, name, 'log'), 'utf8').includes(token), name);
    }
    const sql = postgres(readyB.postgres_url, { max: 1 });
    try {
      const rows = await sql`select first_user_id from registry.organizations`;
      assert.deepEqual(rows[0], { first_user_id: null }, 'the first person who signs in is an admin as before');
    } finally {
      await sql.end();
    }
  });

  test('keeps its data folder to itself', async () => {
    const intruder = start(first);
    assert.deepEqual(await intruder.exited, { code: 1, signal: null });
    assert.equal(intruder.stderr.at(-1), `The data folder ${first.dataDir} is in use by another running stack.`);
    assert.equal((await api(readyA).get(runId)).status, 200);
    assert.equal(readyFiles(first).length, 1);
  });

  test('stopped with Ctrl-C, stops its parts in order and leaves nothing running', async () => {
    assert.deepEqual(await a.stop('SIGINT'), { code: 0, signal: null });
    const servers = processesOf(first.dataDir).filter(({ command }) => !command.includes('server-guard'));
    assert.deepEqual(servers, [], 'all had ended before the stack did');
    await isGone(first);
    assert.deepEqual(readyFiles(first), []);
    assert.equal(existsSync(join(first.dataDir, 'stack.lock')), false);
    const stoppedAt = (part: string, word: string) => {
      const line = readFileSync(join(first.dataDir, part, 'log'), 'utf8')
        .split('\n')
        .findLast((it) => it.includes(word));
      const [time] = /\d{4}.\d\d.\d\d.\d\d:\d\d:\d\d\.\d{3}/.exec(line ?? '') ?? [];
      return (time ?? part).replaceAll(/[/ T]/g, '-');
    };
    const order = [
      stoppedAt('worker-1', 'stopping'),
      stoppedAt('gateway-1', 'stopping'),
      stoppedAt('run-scheduler-1', 'stopping'),
      stoppedAt('notifier-1', 'stopping'),
      stoppedAt('method-registry', 'stopping'),
      stoppedAt('identity-provider', 'stopping'),
      stoppedAt('nats', 'Server Exiting'),
      stoppedAt('postgres', 'database system is shut down'),
    ];
    assert.deepEqual(order, [...order].sort());
    const [, afterStop = ''] = readFileSync(join(first.dataDir, 'run-scheduler-1', 'log'), 'utf8').split('"stopping"');
    assert.deepEqual(afterStop.match(/^.*"level":"(warn|error)".*$/gm), null, 'a stop in order logs no warning');
  });

  test('started again, finds its key, its methods and its runs', async () => {
    a = start(first);
    const again = await a.ready;
    assert.deepEqual(
      [again.api_key, again.webhook_secret, again.org_id, again.methods],
      [readyA.api_key, readyA.webhook_secret, readyA.org_id, readyA.methods],
    );
    const { run } = await api(again).get(runId);
    assert.deepEqual([run.status, run.result?.letters], ['succeeded', 3]);
    const fresh = await api(again).startSettled({ method: again.methods['greet-customer'] });
    assert.equal(fresh.status, 'succeeded');
    assert.deepEqual(await a.stop('SIGTERM'), { code: 0, signal: null });
    await isGone(first);
  });

  test('killed without a word, takes its servers with it', async () => {
    assert.deepEqual(await b.stop('SIGKILL'), { code: null, signal: 'SIGKILL' });
    await isGone(second);
  });

  test('of two starts at once on one folder, one runs; with --reset it has forgotten everything', async () => {
    // What is looked at needs neither people nor runs.
    const both = [1, 2].map(() => start(second, ['--reset', '--workers', '0'], NO_SIGN_IN));
    const ends = both.map((stack) => Promise.race([stack.ready, stack.exited]));
    const outcomes = await Promise.all(ends);
    const running = outcomes.filter((outcome): outcome is ReadyLine => 'ready' in outcome);
    assert.equal(running.length, 1, both.flatMap((stack) => stack.stderr).join('\n'));
    const [anew] = running as [ReadyLine];
    assert.notEqual(anew.api_key, readyB.api_key);
    assert.notDeepEqual(anew.methods, readyB.methods);
    assert.equal((await api(anew).as(readyB.api_key).get(runId)).status, 401);
    await Promise.all(both.map((stack) => stack.stop('SIGINT')));
    await isGone(second);
  });

  test('interrupted while it starts, leaves nothing running', async () => {
    const stack = start(first);
    await until('its servers are starting', () => processesOf(first.dataDir).length >= 4);
    assert.deepEqual(await stack.stop('SIGINT'), { code: 130, signal: null });
    await isGone(first);
    assert.deepEqual(readyFiles(first), []);
  });

  const user = ordinaryUser();
  test('runs its demonstration as an ordinary user, from its sources, then ends', {
    skip: user.why ?? false,
  }, async () => {
    const folder = stackFolder('local-user');
    const { uid, gid } = user;
    const home = join(folder.path, 'home');
    mkdirSync(home);
    lendBuiltCode(home);
    for (const path of [folder.path, folder.stateDir]) chownSync(path, uid, gid);
    spawnSync('chown', ['-R', `${uid}:${gid}`, home]);
    const env = { HOME: home };
    try {
      const args = ['--once', '--port', '0'];
      const stack = new StackProcess({ ...folder, args, env, uid, gid, asPeopleDo: true });
      started.push(stack);
      const exit = await stack.exited;
      const said = [...stack.stdout, ...stack.stderr].join('\n');
      assert.deepEqual(exit, { code: 0, signal: null }, said);
      assert.match(said, /Both runs finished, every webhook was signed\./);
      assert.equal(statSync(join(folder.dataDir, 'postgres', 'cluster')).uid, uid);
      await isGone(folder);
    } finally {
      folder.remove();
    }
  });

  test('refuses an unknown option and lists the known ones', async () => {
    const stack = start(first, ['--gateway', '2']);
    assert.deepEqual(await stack.exited, { code: 2, signal: null });
    assert.match(stack.stderr[0] ?? '', /^Unknown option '--gateway'/);
    assert.match(stack.stderr.join('\n'), /--gateways N/);
  });
});

/** What a start of ours has built of the same sources: to build it again would take the processor for seconds. */
function lendBuiltCode(home: string): void {
  const own = fileURLToPath(new URL('../../node_modules/.cache/methods/', import.meta.url));
  const caches = join(home, '.cache', 'methods');
  if (!existsSync(own)) return;
  mkdirSync(caches, { recursive: true });
  spawnSync('cp', ['-a', own, join(caches, 'built')]);
}

interface OrdinaryUser {
  readonly uid: number;
  readonly gid: number;
  /** Why the test cannot be. */
  readonly why?: string;
}

function ordinaryUser(): OrdinaryUser {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  if (own.uid !== 0) return own;
  const id = (flag: string) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  const user = { uid: id('-u'), gid: id('-g') };
  const main = fileURLToPath(new URL('../../deploy/local/src/main.ts', import.meta.url));
  const readable = spawnSync(process.execPath, ['-e', `require('fs').readFileSync(${JSON.stringify(main)})`], user);
  return readable.status === 0 ? user : { ...user, why: 'the other user may not read this checkout' };
}
