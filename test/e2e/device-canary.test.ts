// A run in device mode leaves no plain text with the service: every value of it is marked, and afterwards Postgres with
// its log, the files of NATS, all logs, webhooks, mails and the memory of our processes are searched for the marks. A run
// in account mode shows that the search finds what is there.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import { systemClock } from '@methods/base/clock';
import type { ProductionId } from '@methods/base/ids';
import { Methods } from '@methods/client/index';
import { silentLogger } from '@methods/logging/logger';
import { Worker } from '@methods/worker/worker';
import { tempFolder } from '../harness/temp-folder.ts';
import { TEST_DOER } from '../harness/test-doer.ts';
import { until } from '../harness/until.ts';
import { type Stack, startStack } from './stack.ts';
import { processesOf } from './stack-processes.ts';
import { filesHolding, tablesHolding } from './stored-traces.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const mark = (what: string) => `${what}${randomBytes(12).toString('hex')}`;
const SEALED = mark('sealed');
const PLAIN = mark('plain');
const SERVICES = /gateway|method-registry|run-scheduler|notifier/;
const PART_BYTES = 8 << 20;

/** As it is, in base64 at each of its three places in a longer text, and in hex. */
function formsOf(text: string): string[] {
  const base64 = [0, 1, 2].map((shift) => {
    const whole = Buffer.from(' '.repeat(shift) + text).toString('base64');
    // The first and the last characters depend on what is around it.
    return whole.slice(shift === 0 ? 0 : 4, -4);
  });
  return [text, ...base64, Buffer.from(text).toString('hex')];
}

/** Whether memory that the process may write has one of the texts, also as UTF-16; null: this user may not look. */
function memoryHolds(pid: number, texts: readonly string[]): boolean | null {
  const wanted = [...texts.map((each) => Buffer.from(each)), ...texts.map((each) => Buffer.from(each, 'utf16le'))];
  let memory: number;
  try {
    memory = openSync(`/proc/${pid}/mem`, 'r');
  } catch {
    return null;
  }
  try {
    const overlap = Math.max(...wanted.map(({ length }) => length));
    const part = Buffer.alloc(PART_BYTES + overlap);
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === '') continue;
      for (let at = BigInt(`0x${from}`); at < BigInt(`0x${to}`); at += BigInt(PART_BYTES)) {
        const left = Number(BigInt(`0x${to}`) - at);
        const count = readPart(memory, part, Math.min(left, part.length), at);
        if (wanted.some((each) => part.subarray(0, count).includes(each))) return true;
      }
    }
    return false;
  } finally {
    closeSync(memory);
  }
}

function readPart(memory: number, part: Buffer, length: number, at: bigint): number {
  try {
    return readSync(memory, part, 0, length, at);
  } catch {
    // Released meanwhile, or a mapping of a device.
    return 0;
  }
}

describe('a run in device mode', () => {
  let stack: Stack;
  const receiver = new WebhookReceiver();
  let client: Methods;
  let worker: Worker;
  const results: unknown[] = [];

  before(async () => {
    stack = await startStack('canary', { args: ['--workers', '0', '--mail'] });
    await receiver.start();
    const { key, authPart, authSha256 } = createServiceKey();
    const orgId = stack.ready.org_id;
    await stack.registry.createServiceKey({ orgId, name: 'canary', authSha256, doer: TEST_DOER });
    client = new Methods({ apiKey: key, baseUrl: stack.ready.base_url, runData: 'device', worker: false });
    const dataDir = tempFolder('canary-worker');
    worker = new Worker({
      addresses: [stack.ready.grpc_url],
      methods: [stack.method('keep-private')] as ProductionId[],
      concurrency: 2,
      secrets: new Map(),
      dataDir,
      cacheDir: join(dataDir, 'environments'),
      sandbox: true,
      allowInstallScripts: false,
      path: process.env.PATH ?? '/usr/bin:/bin',
      fetch,
      clock: systemClock,
      logger: silentLogger,
      authPart,
      contentPart: parseBearerKey(key)?.contentPart,
      onResult: (_run, result) => results.push(result),
    });
    await worker.start();
  });
  after(async () => {
    await worker?.stop();
    await receiver.stop();
    await stack?.stop();
  });

  const method = () => stack.method('keep-private');

  /** A page of the stack's mailbox. A connection that is kept may be closed between two looks. */
  async function mailboxPage(path: string): Promise<string> {
    const page = await fetch(`${stack.ready.mail_url}${path}`, { headers: { connection: 'close' } });
    return page.text();
  }
  /** The pages of all mails. */
  async function mails(): Promise<string[]> {
    const ids = [...(await mailboxPage('')).matchAll(/href="\/mails\/(\d+)"/g)].map(([, id]) => id);
    return Promise.all(ids.map((id) => mailboxPage(`/mails/${id}`)));
  }

  test('is started, asks twice, fails, is run again, mails that it asks, and its files are read', async () => {
    const letter = await client.files.upload(Buffer.from(`letter of ${SEALED}`), { name: `${SEALED}.txt` });
    const notes = [SEALED, `fine ${SEALED}`];
    const run = await client.run({
      method: method(),
      inputs: { word: SEALED, letter },
      webhookUrl: receiver.url('/canary'),
      onAsk: ({ question }) => {
        assert.ok(JSON.stringify(question).includes(SEALED));
        // The first note says no more than the word, so the step asks again.
        return { go: true, note: notes.shift() ?? '' };
      },
    });
    assert.equal(run.status, 'succeeded', JSON.stringify(run.error));
    await until('the worker has the result', () => JSON.stringify(results).includes(`sent with fine ${SEALED}`));
    const files = await client.runs.files.list(run.run_id);
    assert.ok(
      files.some(({ path }) => path.includes(SEALED)),
      JSON.stringify(files),
    );
    const failed = await client.run({
      method: method(),
      inputs: { word: SEALED, break: SEALED },
      onAsk: () => ({ go: true, note: `fine ${SEALED}` }),
    });
    assert.match(failed.error?.message ?? '', new RegExp(SEALED));
    const { run_id: again } = await client.runs.rerun(run.run_id);
    await until('the rerun asks', async () => (await client.runs.get(again)).status === 'waiting');
    await client.runs.answer(again, { go: true, note: `fine ${SEALED}` });
    await until('the rerun has ended', async () => (await client.runs.get(again)).status === 'succeeded');
    // No application answers this one, so the team is mailed.
    const { run_id: asked } = await client.start({ method: method(), inputs: { word: SEALED } });
    await until('the team is mailed', async () => (await mails()).some((page) => page.includes(asked)));
    await until('its webhooks have come', () => receiver.requests.some(({ body }) => body.status === 'succeeded'));
  });

  test('leaves none of its texts with the service; one in account mode does', async (t) => {
    await stack.api.start({ method: method(), inputs: { word: PLAIN } });
    // What is only in memory reaches the files.
    await stack.sql`checkpoint`;
    const [sealed, plain] = [formsOf(SEALED), formsOf(PLAIN)];
    assert.notDeepEqual(await tablesHolding(stack.sql, [PLAIN]), []);
    assert.deepEqual(await tablesHolding(stack.sql, sealed), [], 'rows');
    const [{ data_directory: cluster = '' } = {}] = await stack.sql<{ data_directory: string }[]>`show data_directory`;
    const all = () => true;
    assert.notDeepEqual(filesHolding(join(cluster, 'pg_wal'), plain, all), [], 'the log of Postgres is searched');
    for (const folder of ['pg_wal', 'base']) {
      assert.deepEqual(filesHolding(join(cluster, folder), sealed, all), [], folder);
    }
    assert.deepEqual(filesHolding(stack.ready.data_dir, sealed, all), [], 'logs, the files of NATS, mails');
    assert.ok(receiver.requests.length > 0);
    for (const { raw } of receiver.requests) assert.ok(!sealed.some((form) => raw.includes(form)), 'a webhook');

    const pages = await mails();
    assert.ok(pages.length > 0);
    for (const page of pages) assert.ok(!sealed.some((form) => page.includes(form)), 'a mail');

    const services = processesOf(stack.ready.data_dir).filter(({ command }) => SERVICES.test(command));
    assert.ok(services.length >= 4, JSON.stringify(services));
    const seen = services.map(({ pid, command }) => ({ command, holds: memoryHolds(pid, sealed) }));
    if (seen.some(({ holds }) => holds === null)) t.diagnostic('this user may not read the memory of its processes');
    assert.deepEqual(
      seen.filter(({ holds }) => holds === true).map(({ command }) => command),
      [],
      'memory',
    );
    const found = services.some(({ pid }) => memoryHolds(pid, plain) !== false);
    assert.ok(found, 'the memory of the services is searched');
  });
});
