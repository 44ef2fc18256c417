import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type FileId, newId, type OrgId } from '@methods/base/ids';
import { SEALED_MEDIA_TYPE, sealedStreamBytes } from '@methods/content/sealed-stream-shape';
import { openPool } from '@methods/postgres/pool';
import {
  NamedFilesSchema,
  type PutFileRequest,
  PutFileRequestSchema,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { doorTo } from '@methods/test/harness/database-door';
import { until } from '@methods/test/harness/until';
import { FileStore } from '../store/file-store.ts';
import { newFacts, startOf, TestStore } from '../store/run-store.fixture.ts';
import { FILE_SHARE, InputFiles } from './input-files.ts';

const OWNER: { readonly orgId: OrgId; readonly owner: string } = { orgId: 'org_a', owner: 'key_a' };
const NO_HASH = new Uint8Array(0);
const code = (expected: string) => ({ name: 'ServiceError', code: expected });
const HOUR_MS = 3_600_000;
const named = (files: MessageInitShape<typeof NamedFilesSchema>) => create(NamedFilesSchema, files);

describe('files that callers send', () => {
  let db: TestStore;
  let store: FileStore;
  let files: InputFiles;

  before(async () => {
    db = await TestStore.open();
  });
  after(() => db.close());
  beforeEach(async () => {
    await db.sql`delete from scheduler.run_files`;
    await db.sql`delete from scheduler.files`;
    await db.sql`delete from scheduler.file_shares`;
    store = new FileStore(db.sql, { bytesMax: 1_000_000, filesMax: 5 });
    files = new InputFiles(store);
  });

  async function* sent(chunks: Iterable<string | Uint8Array>, more = {}): AsyncGenerator<PutFileRequest> {
    const description = { ...OWNER, name: 'a.pdf', mediaType: 'application/pdf', bytesMax: 600_000, ...more };
    yield create(PutFileRequestSchema, { file: { idempotencyHash: NO_HASH, ...description } });
    for (const chunk of chunks) yield create(PutFileRequestSchema, { chunk: Buffer.from(chunk as string) });
    yield create(PutFileRequestSchema, { last: true });
  }
  const put = async (chunks: Iterable<string | Uint8Array> = ['hello'], more = {}) => files.put(sent(chunks, more));

  async function share(orgId = 'org_a') {
    const [row] = await db.sql<{ bytes: number; files: number }[]>`
      select bytes::int, files::int from scheduler.file_shares where org_id = ${orgId}`;
    return row && { ...row };
  }
  const stored = async () => {
    const [row] = await db.sql<{ n: number }[]>`select count(*)::int as n from scheduler.file_chunks`;
    return row?.n;
  };
  const age = (fileId: FileId, ms: number) =>
    db.sql`update scheduler.files set expires_at_ms = expires_at_ms - ${ms}, look_at_ms = look_at_ms - ${ms}
      where file_id = ${fileId}`;
  const find = (fileId: FileId, owner = OWNER) => store.find(owner.orgId, owner.owner, [fileId]);

  test('are hashed as they arrive, and returned whole only to a run that names them', async () => {
    const content = randomBytes(590_000);
    const chunks = Array.from({ length: 59 }, (_, i) => content.subarray(i * 10_000, (i + 1) * 10_000));
    const { file, replayed } = await put(chunks);
    const sha256 = createHash('sha256').update(content).digest('hex');
    assert.deepEqual([file.bytes, file.sha256, replayed], [590_000, sha256, false]);
    assert.deepEqual(await share(), { bytes: 590_000, files: 1 }, 'what was set aside and not used is free again');
    const run = { orgId: 'org_a' as const, runId: newFacts(0).runId };
    assert.equal(await store.namedBy(run, file.fileId), null);
    assert.ok(await files.keepFor(run, named({ owner: 'key_a', fileIds: [file.fileId] })));
    const [first, ...rest] = await all(files.ofRun(run, file.fileId));
    assert.deepEqual(first, { file });
    const parts = rest.map((it) => ('chunk' in it ? it.chunk : assert.fail('it is described once')));
    assert.ok(Buffer.concat(parts).equals(content));
    assert.ok(parts.every((part) => part.length < 280_000));
    assert.equal(await store.namedBy({ ...run, orgId: 'org_b' }, file.fileId), null);
    assert.equal(await store.namedBy({ ...run, runId: newFacts(0).runId }, file.fileId), null);
  });

  test('may be empty', async () => {
    const { file } = await put([]);
    assert.deepEqual([file.bytes, file.sha256], [0, createHash('sha256').digest('hex')]);
    const run = { orgId: 'org_a' as const, runId: newFacts(0).runId };
    await files.keepFor(run, named({ owner: 'key_a', fileIds: [file.fileId] }));
    assert.deepEqual(await all(files.ofRun(run, file.fileId)), [{ file }]);
  });

  test('that are sealed may be larger, by what seals them', async () => {
    const large = new InputFiles(new FileStore(db.sql, FILE_SHARE));
    const bytesMax = sealedStreamBytes(100 * 1024 ** 2);
    await assert.rejects(large.put(sent(['x'], { bytesMax })), code('too_large'));
    const mediaType = SEALED_MEDIA_TYPE;
    await assert.rejects(large.put(sent(['x'], { mediaType, bytesMax: bytesMax + 1 })), code('too_large'));
    assert.equal((await large.put(sent(['x'], { mediaType, bytesMax }))).file.mediaType, mediaType);
  });

  test('leave nothing if they break off or exceed the announced size', async () => {
    async function* broken() {
      for await (const request of sent(['x'.repeat(300_000)])) if (!request.last) yield request;
      throw new Error('the sender is gone');
    }
    await assert.rejects(files.put(broken()), /the sender is gone/);
    async function* left() {
      for await (const request of sent(['half'])) if (!request.last) yield request;
    }
    await assert.rejects(files.put(left()), code('invalid_request'));
    await assert.rejects(put(['12345', '67890'], { bytesMax: 7 }), code('too_large'));
    await assert.rejects(put([], { bytesMax: 101 * 1024 * 1024 }), code('too_large'));
    await assert.rejects(files.put((async function* () {})()), code('invalid_request'));
    assert.deepEqual([await share(), await stored()], [{ bytes: 0, files: 0 }, 0]);
  });

  test('count against the share of their organization in bytes and number, including those in flight', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* slow() {
      for await (const request of sent(['x'], { bytesMax: 900_000 })) {
        if (request.last) await held;
        yield request;
      }
    }
    const first = files.put(slow());
    await until('bytes are set aside', async () => (await share())?.bytes === 900_000);
    await assert.rejects(put(['y'], { bytesMax: 150_000 }), { code: 'rate_limited', message: /at most 10 GiB/ });
    await put(['y'], { bytesMax: 90_000 });
    await put(['y'], { orgId: 'org_b', bytesMax: 900_000 });
    release();
    await first;
    await put(['y'], { bytesMax: 600_000 });
    await assert.rejects(async () => {
      for (;;) await put(['y'], { bytesMax: 1 });
    }, code('rate_limited'));
    const { files: count } = (await share()) ?? { files: 0 };
    assert.equal(count, 5);
  });

  test('whose database stalls are refused as unavailable, and removed when it is back', async () => {
    const door = await doorTo(db.url);
    const stalling = openPool({ url: door.url, applicationName: 'test', max: 1, statementTimeoutMs: 2_000 });
    try {
      async function* stalled() {
        for await (const request of sent(['x'.repeat(300_000), 'y'.repeat(300_000)])) {
          if (String.fromCharCode(request.chunk[0] ?? 0) === 'y') door.stall();
          yield request;
        }
      }
      const store = new FileStore(stalling, { bytesMax: 1_000_000, filesMax: 5 });
      await assert.rejects(new InputFiles(store).put(stalled()), code('unavailable'));
    } finally {
      await stalling.end({ timeout: 0 });
      await door.shut();
    }
    assert.deepEqual(await share(), { bytes: 600_000, files: 1 });
    while (await store.sweep());
    assert.equal(await stored(), 1, 'it could be on its way');
    await db.sql`update scheduler.files set look_at_ms = look_at_ms - ${HOUR_MS}`;
    while (await store.sweep());
    assert.deepEqual([await share(), await stored()], [{ bytes: 0, files: 0 }, 0]);
  });

  test('block their sender while a part of them is stored', async () => {
    let storing = () => {};
    const stores = new Promise<void>((resolve) => {
      storing = resolve;
    });
    let store = () => {};
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    class SlowStore extends FileStore {
      override async append(...part: Parameters<FileStore['append']>): Promise<void> {
        storing();
        await stored;
        return super.append(...part);
      }
    }
    let sentBytes = 0;
    async function* counted() {
      for await (const request of sent(
        Array.from({ length: 14 }, () => 'x'.repeat(65_536)),
        { bytesMax: 950_000 },
      )) {
        sentBytes += request.chunk.length;
        yield request;
      }
    }
    const put = new InputFiles(new SlowStore(db.sql, { bytesMax: 1_000_000, filesMax: 5 })).put(counted());
    await stores;
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.ok(sentBytes <= 512 * 1024, `${sentBytes} bytes are here`);
    store();
    assert.equal((await put).file.bytes, 14 * 65_536);
  });

  test('are at most 10,000 for one organization, even if they are small', async () => {
    files = new InputFiles(new FileStore(db.sql, FILE_SHARE));
    await db.sql`insert into scheduler.file_shares (org_id, bytes, files) values ('org_a', 0, 9999)`;
    await put([], { bytesMax: 0 });
    await assert.rejects(put([], { bytesMax: 0 }), { code: 'rate_limited', message: /at most 10000\.$/ });
    await assert.rejects(put([], { bytesMax: 0, owner: 'key_b' }), code('rate_limited'));
    await put([], { bytesMax: 0, orgId: 'org_b' });
    assert.deepEqual(await share(), { bytes: 0, files: 10_000 });
  });

  test('are swept ten at a time, without reading those that are not due', async () => {
    await db.sql`
      insert into scheduler.files (file_id, org_id, owner, name, media_type, bytes, sha256, expires_at_ms, look_at_ms)
      select 'file_' || n, 'org_a', 'key_a', 'a', 'a/b', 1, 'x', at, at
      from generate_series(1, 10000) n, lateral (select case when n <= 25 then n else 4102444800000 end as at) t`;
    await db.sql`insert into scheduler.file_shares (org_id, bytes, files) values ('org_a', 10000, 10000)`;
    const left = async () => (await share())?.files;
    const rounds: unknown[] = [];
    for (let more = true; more; ) {
      more = await store.sweep();
      rounds.push([more, await left()]);
    }
    assert.deepEqual(rounds, [
      [true, 9_990],
      [true, 9_980],
      [false, 9_975],
    ]);
  });

  test('with the same key and content are stored once, with other content they conflict, and a key expires with its file', async () => {
    const idempotencyHash = randomBytes(32);
    const first = await put(['hello'], { idempotencyHash });
    const again = await put(['hel', 'lo'], { idempotencyHash });
    assert.deepEqual([again.replayed, again.file], [true, first.file]);
    await assert.rejects(put(['other'], { idempotencyHash }), code('idempotency_conflict'));
    await assert.rejects(put(['hello'], { idempotencyHash, name: 'b.pdf' }), code('idempotency_conflict'));
    assert.equal((await put(['hello'], { idempotencyHash, owner: 'key_b' })).replayed, false, 'keys are of a caller');
    assert.deepEqual(await share(), { bytes: 10, files: 2 });
    await age(first.file.fileId, 25 * HOUR_MS);
    assert.equal((await put(['later'], { idempotencyHash })).replayed, false);
  });

  test('sent again after their day with their key are the same file, for a start that is repeated with them', async () => {
    const idempotencyHash = randomBytes(32);
    const { file } = await put(['hello'], { idempotencyHash });
    await files.keepFor({ ...OWNER, runId: newFacts(0).runId }, named({ owner: 'key_a', fileIds: [file.fileId] }));
    await age(file.fileId, 25 * HOUR_MS);
    while (await store.sweep());
    const again = await put(['hello'], { idempotencyHash });
    assert.deepEqual([again.replayed, again.file.fileId], [true, file.fileId]);
    assert.deepEqual(await find(file.fileId), [again.file], 'it may be named again');
    assert.deepEqual(await share(), { bytes: 5, files: 1 });
    await files.delete({ ...OWNER, fileId: file.fileId });
    assert.notEqual(
      (await put(['hello'], { idempotencyHash })).file.fileId,
      file.fileId,
      'a deleted one stays deleted',
    );
  });

  test('can be named by their sender for a day, until they are deleted', async () => {
    const { file } = await put();
    assert.equal((await find(file.fileId)).length, 1);
    for (const other of [
      { ...OWNER, owner: 'key_b' },
      { ...OWNER, orgId: 'org_b' as const },
    ]) {
      assert.deepEqual(await find(file.fileId, other), []);
      const asked = named({ owner: other.owner, fileIds: [file.fileId] });
      assert.equal(await files.keepFor({ orgId: other.orgId as OrgId, runId: 'run_x' }, asked), false);
      await assert.rejects(files.delete({ ...other, fileId: file.fileId }), code('not_found'));
    }
    await age(file.fileId, 25 * HOUR_MS);
    assert.deepEqual(await find(file.fileId), []);
    const { file: second } = await put();
    await files.delete({ ...OWNER, fileId: second.fileId });
    assert.deepEqual(await find(second.fileId), []);
    await assert.rejects(files.delete({ ...OWNER, fileId: second.fileId }), code('not_found'));
    assert.deepEqual(await share(), { bytes: 5, files: 1 });
  });

  test('named together are kept together or not at all', async () => {
    const { file } = await put();
    const run = { orgId: 'org_a' as const, runId: newFacts(0).runId };
    const asked = named({ owner: 'key_a', fileIds: [file.fileId, newId('file')] });
    assert.equal(await files.keepFor(run, asked), false);
    assert.equal(await store.namedBy(run, file.fileId), null);
  });

  test('are kept while a run names them, and swept when none does', async () => {
    const facts = newFacts(0);
    await db.tell(null, startOf(facts));
    const [kept, unnamed, lost] = [await put(['kept']), await put(['unnamed']), await put(['lost'])];
    const run = { orgId: facts.orgId, runId: facts.runId };
    await files.keepFor(run, named({ owner: 'key_a', fileIds: [kept.file.fileId] }));
    await files.keepFor({ ...run, runId: 'run_never' }, named({ owner: 'key_a', fileIds: [lost.file.fileId] }));
    const again = { ...run, runId: newFacts(0).runId };
    while (await store.sweep());
    assert.equal(await stored(), 3, 'nothing before its time');
    for (const { file } of [kept, unnamed, lost]) await age(file.fileId, 25 * HOUR_MS);
    while (await store.sweep());
    assert.equal(await stored(), 2, 'a run that is about to start keeps its file');
    await db.sql`update scheduler.run_files set named_at_ms = named_at_ms - ${2 * HOUR_MS}`;
    await db.sql`update scheduler.files set look_at_ms = 0`;
    while (await store.sweep(1));
    assert.deepEqual([await stored(), await share()], [1, { bytes: 4, files: 1 }]);
    assert.ok(await files.keepFor(again, named({ runId: facts.runId })));
    assert.ok(await store.namedBy(again, kept.file.fileId), 'a rerun has the file, though its time is over');
    await files.letGo(again);
    assert.equal(await store.namedBy(again, kept.file.fileId), null);
    assert.equal(await files.keepFor(again, named({ runId: 'run_gone' })), false, 'its first run is gone');
    await db.sql`delete from scheduler.runs where run_id = ${facts.runId}`;
    await db.sql`update scheduler.files set look_at_ms = 0`;
    while (await store.sweep());
    assert.deepEqual([await stored(), await share()], [0, { bytes: 0, files: 0 }]);
  });
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
