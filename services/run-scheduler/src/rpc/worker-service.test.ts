import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createServiceKey } from '@methods/auth/service-key';
import { type FileId, type FolderId, newId, type OrgId, type RunId } from '@methods/base/ids';
import { sealedStream } from '@methods/content/sealed.fixture';
import { sealedStreamBytes } from '@methods/content/sealed-stream-shape';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import { type Client, rpcClient } from '@methods/rpc/client';
import { RpcServer, served } from '@methods/rpc/server';
import { until } from '@methods/test/harness/until';
import { TestActors } from '../actor/test-actors.fixture.ts';
import { claim, loseLease } from '../run/run.fixture.ts';
import { FileStore } from '../store/file-store.ts';
import { RunFolderStore } from '../store/run-folder-store.ts';
import { TestStore } from '../store/run-store.fixture.ts';
import { WorkerKeys } from '../worker-stream/worker-keys.ts';
import type { WorkerSessions } from '../worker-stream/worker-sessions.ts';
import { FILE_SHARE } from './input-files.ts';
import { type WorkerServiceOptions, workerService } from './worker-service.ts';

const OURS = createServiceKey();
const THEIRS = createServiceKey();
const code = (expected: string) => ({ name: 'ServiceError', code: expected });

describe('the calls of workers', () => {
  let db: TestStore;
  let node: TestActors;
  let server: RpcServer;
  let ours: Client<typeof WorkerService>;
  let theirs: Client<typeof WorkerService>;
  let stranger: Client<typeof WorkerService>;
  let askedRegistry: object[];
  let files: FileStore;

  before(async () => {
    db = await TestStore.open();
    node = await TestActors.on(db);
    const keys = new WorkerKeys({
      nowMs: () => 0,
      async resolve(hash) {
        if (OURS.authSha256.equals(hash)) return { orgId: 'org_a' as const, keyId: 'key_a' as const };
        if (THEIRS.authSha256.equals(hash)) return { orgId: 'org_b' as const, keyId: 'key_b' as const };
        throw new ServiceError('unauthorized');
      },
    });
    const registry = {
      async getVersion(request: object) {
        askedRegistry.push(request);
        return { version: { versionId: 'ver_a' as const, source: Buffer.from('x'), sha256: Buffer.of(1) } };
      },
      async putLock(request: object) {
        askedRegistry.push(request);
        return { lockSha256: Buffer.of(2), stored: true };
      },
    } as unknown as WorkerServiceOptions['registry'];
    files = new FileStore(db.sql, FILE_SHARE);
    const handlers = workerService({
      keys,
      sessions: {} as WorkerSessions,
      registry,
      folders: new RunFolderStore(db.sql),
      files,
      actors: node.actors,
      logger: silentLogger,
    });
    const services = [served(WorkerService, handlers)];
    server = new RpcServer({ listen: '127.0.0.1:0', services, logger: silentLogger, graceMs: 0 });
    await server.start();
    const clientOf = (key: string) =>
      rpcClient(WorkerService, `127.0.0.1:${server.port}`, { metadata: () => ({ authorization: `Bearer ${key}` }) });
    ours = clientOf(OURS.authPart);
    theirs = clientOf(THEIRS.authPart);
    stranger = clientOf(createServiceKey().authPart);
  });
  after(async () => {
    for (const client of [ours, theirs, stranger]) client.close();
    await server.stop();
    await db.close();
  });
  beforeEach(() => {
    askedRegistry = [];
  });

  type Attempt = { readonly runId: RunId; readonly token: string };

  async function attempt(): Promise<Attempt> {
    const run = await node.running();
    return { runId: run.facts.runId, token: run.token };
  }

  function put(worker: typeof ours, of: Attempt, chunks: readonly Uint8Array[], more: { bytesTotal?: number } = {}) {
    const bytesTotal = more.bytesTotal ?? chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    return worker.putRunFolder(
      (async function* () {
        yield { ...of, bytesTotal };
        for (const chunk of chunks) yield { chunk };
      })(),
    );
  }

  async function got(worker: typeof ours, of: Attempt, folderId: FolderId): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const { chunk } of worker.getRunFolder({ ...of, folderId })) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  test('a run folder is returned as it was sent, to the worker that has the attempt', async () => {
    const of = await attempt();
    const sent = [Buffer.alloc(65_536, 1), Buffer.alloc(65_536, 2), Buffer.from('end')];
    const { folderId } = await put(ours, of, sent);
    assert.deepEqual(await got(ours, of, folderId), Buffer.concat(sent));
    await assert.rejects(got(ours, await attempt(), folderId), code('not_found'));
  });

  test("another organization's worker finds no such run, and one whose attempt is over may not access it", async () => {
    const of = await attempt();
    const { folderId } = await put(ours, of, [Buffer.from('x')]);
    await assert.rejects(got(theirs, of, folderId), code('not_found'));
    await assert.rejects(put(theirs, of, [Buffer.from('x')]), code('not_found'));
    await node.actors.tell('org_a', of.runId, loseLease(of.token));
    await node.actors.tell('org_a', of.runId, claim('next'));
    await assert.rejects(got(ours, of, folderId), code('stale_attempt'));
    await assert.rejects(put(ours, of, [Buffer.from('x')]), code('stale_attempt'));
    assert.equal((await got(ours, { runId: of.runId, token: 'next' }, folderId)).toString(), 'x');
  });

  test('a folder that is too large or does not arrive whole is refused and not kept', async () => {
    const of = await attempt();
    const before = await folderCount();
    await assert.rejects(put(ours, of, [Buffer.alloc(65_537)]), code('too_large'));
    await assert.rejects(put(ours, of, [], { bytesTotal: 2 ** 28 + 1 }), code('too_large'));
    await assert.rejects(put(ours, of, [Buffer.from('half')], { bytesTotal: 8 }), code('invalid_request'));
    assert.equal(await folderCount(), before);
  });

  test('a run in device mode keeps only a folder that is sealed, whose bound counts plain bytes', async () => {
    const sealedRun = { contentId: '0'.repeat(32), keyId: 'key_a' as const, sealedBy: 'ab'.repeat(16) };
    const run = await node.running(sealedRun);
    const of = { runId: run.facts.runId, token: run.token };
    const before = await folderCount();
    await assert.rejects(put(ours, of, [Buffer.from('a plain archive')]), code('invalid_request'));
    const archive = sealedStream({ kind: 'folder', plainBytes: 100_000 });
    const chunks = [archive.subarray(0, 65_536), archive.subarray(65_536)];
    await assert.rejects(put(ours, of, [chunks[0] ?? archive]), code('invalid_request'));
    await assert.rejects(put(ours, of, [sealedStream({ kind: 'file' })]), code('invalid_request'));
    const bytesMax = sealedStreamBytes(2 ** 28);
    await assert.rejects(put(ours, of, [], { bytesTotal: bytesMax + 1 }), code('too_large'));
    await assert.rejects(put(ours, of, chunks, { bytesTotal: bytesMax }), code('invalid_request'));
    assert.equal(await folderCount(), before);
    const { folderId } = await put(ours, of, chunks);
    assert.deepEqual(await got(ours, of, folderId), archive);
  });

  async function folderCount(): Promise<number> {
    return (await db.sql`select from scheduler.run_folders`).length;
  }

  const DAY_MS = 24 * 3_600_000;

  /** Returns a file that is stored and that the run names. */
  async function fileOf({ runId }: Attempt, rows = 1): Promise<FileId> {
    const fileId = newId('file');
    const of = { orgId: 'org_a' as const, fileId };
    const row = Buffer.alloc(262_144, 'x');
    await files.begin({ ...of, owner: 'key_gone', name: 'a', mediaType: 'a/b', bytesMax: rows * row.length });
    for (let i = 0; i < rows; i++) await files.append(of, i, row);
    const whole = { bytes: rows * row.length, sha256: 'a'.repeat(64), idempotencyHash: null };
    await files.finish(of, whole);
    assert.ok(await files.keepFor({ orgId: 'org_a', runId }, 'key_gone', [fileId]));
    return fileId;
  }

  test('a worker gets a file that its run names, even if the file expired before the claim', async () => {
    const of = await attempt();
    const fileId = await fileOf(of, 2);
    await db.sql`update scheduler.files set expires_at_ms = expires_at_ms - ${2 * DAY_MS}, look_at_ms = 0`;
    while (await files.sweep());
    assert.deepEqual(await files.find('org_a', 'key_gone', [fileId]), [], 'no later start may name it');
    let bytes = 0;
    for await (const { chunk } of ours.getInputFile({ ...of, fileId })) {
      assert.ok(chunk.length <= 65_536);
      bytes += chunk.length;
    }
    assert.equal(bytes, 524_288);
    const first = async (worker: typeof ours, from: Attempt, id = fileId) => {
      for await (const _ of worker.getInputFile({ ...from, fileId: id })) return;
    };
    await assert.rejects(first(theirs, of), code('not_found'));
    await assert.rejects(first(stranger, of), code('unauthorized'));
    await assert.rejects(first(ours, await attempt()), code('not_found'));
    await assert.rejects(first(ours, of, newId('file')), code('not_found'));
    await node.actors.tell('org_a', of.runId, loseLease(of.token));
    await node.actors.tell('org_a', of.runId, claim('next'));
    await assert.rejects(first(ours, of), code('stale_attempt'));
    await first(ours, { ...of, token: 'next' });
  });

  test('files in flight are limited by a share for each organization, and senders without a place retry', async () => {
    const of = await attempt();
    const fileId = await fileOf(of, 24);
    const open: AsyncIterator<unknown>[] = [];
    const openOne = async () => {
      const parts = ours.getInputFile({ ...of, fileId })[Symbol.asyncIterator]();
      await parts.next();
      open.push(parts);
    };
    await assert.rejects(async () => {
      while (open.length < 100) await openOne();
    }, code('unavailable'));
    assert.equal(open.length, 32);
    await assert.rejects(put(ours, of, [Buffer.from('x')]), code('unavailable'));
    await assert.rejects(got(ours, of, 'fld_x'), code('unavailable'));
    await assert.rejects(got(theirs, of, 'fld_x'), code('not_found'), 'another organization has its own');
    for (const parts of open) await parts.return?.();
    await until('the places are free', () =>
      put(ours, of, [Buffer.from('x')]).then(
        () => true,
        () => false,
      ),
    );
  });

  test("returns only versions and locks of the key's organization, regardless of the worker's request", async () => {
    const version = await ours.getVersion({ method: 'wf_a', versionId: 'ver_a' });
    assert.equal(Buffer.from(version.source).toString(), 'x');
    await theirs.putLock({ method: 'wf_a', versionId: 'ver_a', lock: Buffer.of(1) });
    assert.deepEqual(
      askedRegistry.map((request) => (request as { orgId: OrgId }).orgId),
      ['org_a', 'org_b'],
    );
  });

  test('returns nothing without a known key', async () => {
    const of = await attempt();
    await assert.rejects(stranger.getVersion({ method: 'wf_a', versionId: 'ver_a' }), code('unauthorized'));
    await assert.rejects(put(stranger, of, [Buffer.from('x')]), code('unauthorized'));
    await assert.rejects(got(stranger, of, 'fld_x'), code('unauthorized'));
    assert.deepEqual(askedRegistry, []);
  });
});
