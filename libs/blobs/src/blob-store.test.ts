// The contract of every blob store, checked on each of them in real use: a real Postgres, and an S3 server.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import type { OrgId } from '@methods/base/ids';
import { openPool, type Sql } from '@methods/postgres/pool';
import { testPostgres } from '@methods/test/harness/postgres';
import { type BlobAddress, BlobError, type BlobStore, PART_BYTES_MAX } from './blob-store.ts';
import { PostgresBlobStore } from './postgres-blob-store.ts';
import { S3BlobStore } from './s3-blob-store.ts';
import { startS3 } from './s3-server.fixture.ts';

interface Kept {
  readonly store: BlobStore;
  /** A store whose connections all break. */
  readonly lost: BlobStore;
  /** Connections broken so far. */
  broken(): number;
  close(): Promise<void>;
}

/** Breaks every connection. It keeps its port, so no other server ever answers there. */
async function breakingServer() {
  let broken = 0;
  const server = createServer((socket) => {
    broken++;
    socket.on('error', () => {}).resetAndDestroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    broken: () => broken,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}

async function inPostgres(): Promise<Kept> {
  const database = await (await testPostgres()).freshDatabase();
  const pool = (url: string): Sql =>
    openPool({ url, applicationName: 'test', max: 4, statementTimeoutMs: 60_000, connectTimeoutMs: 60_000 });
  const breaking = await breakingServer();
  const [sql, lost] = [pool(database.url), pool(`postgres://nobody@${breaking.host}/none`)];
  await sql`create schema kept`;
  await sql`create table kept.blob_parts (org_id text, blob_id text, part_name text, bytes bytea not null,
    primary key (org_id, blob_id, part_name))`;
  return {
    store: new PostgresBlobStore(sql, 'kept'),
    lost: new PostgresBlobStore(lost, 'kept'),
    broken: breaking.broken,
    async close() {
      await Promise.all([sql.end({ timeout: 1 }), lost.end({ timeout: 0 })]);
      await breaking.close();
      await database.drop();
    },
  };
}

async function inS3(): Promise<Kept> {
  const [server, breaking] = [await startS3(), await breakingServer()];
  return {
    store: new S3BlobStore(server.options),
    lost: new S3BlobStore({ ...server.options, endpoint: `http://${breaking.host}` }),
    broken: breaking.broken,
    async close() {
      await Promise.all([server.close(), breaking.close()]);
    },
  };
}

async function all(store: BlobStore, address: BlobAddress, names: readonly string[]): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of store.read(address, names)) parts.push(part);
  return Buffer.concat(parts);
}

for (const [where, open] of [
  ['Postgres', inPostgres],
  ['S3', inS3],
] as const) {
  describe(`blobs in ${where}`, { timeout: 300_000 }, () => {
    let kept: Kept;
    let store: BlobStore;
    let address: BlobAddress;
    before(async () => {
      kept = await open();
      ({ store } = kept);
    });
    after(() => kept.close());
    const fresh = () => {
      address = {
        orgId: `org_${randomBytes(4).toString('hex')}` as const,
        blobId: `upl_${randomBytes(4).toString('hex')}`,
      };
      return address;
    };

    test('parts are returned byte for byte in the requested order', async () => {
      fresh();
      const parts = [randomBytes(PART_BYTES_MAX), randomBytes(1), Buffer.from('\0\r\n\ufeff€')] as const;
      for (const [index, part] of parts.entries()) await store.putPart(address, `part-${index}`, part);
      deepEqual(
        await all(store, address, ['part-2', 'part-0', 'part-1']),
        Buffer.concat([parts[2], parts[0], parts[1]]),
      );
      deepEqual(await all(store, address, []), Buffer.alloc(0));
    });

    test('the same name again replaces the part', async () => {
      fresh();
      await store.putPart(address, 'a', Buffer.from('one'));
      await store.putPart(address, 'a', Buffer.from('one'));
      await store.putPart(address, 'a', Buffer.from('two'));
      equal((await all(store, address, ['a'])).toString(), 'two');
    });

    test('a missing part is reported after the parts before it', async () => {
      fresh();
      await store.putPart(address, 'a', Buffer.from('one'));
      const seen: string[] = [];
      await rejects(
        async () => {
          for await (const part of store.read(address, ['a', 'b'])) seen.push(Buffer.from(part).toString());
        },
        { name: 'BlobError', code: 'missing' },
      );
      deepEqual(seen, ['one']);
    });

    test('another organization has nothing under the same names, and removes nothing', async () => {
      const mine = fresh();
      await store.putPart(mine, 'a', Buffer.from('mine'));
      const theirs = { ...mine, orgId: 'org_other' as const };
      await rejects(all(store, theirs, ['a']), { code: 'missing' });
      await store.remove(theirs);
      await store.putPart(theirs, 'a', Buffer.from('theirs'));
      equal((await all(store, mine, ['a'])).toString(), 'mine');
    });

    test('removing takes all parts of one blob, for any number, and may be repeated', async () => {
      const mine = fresh();
      const other = { ...mine, blobId: `${mine.blobId}-2` };
      await store.putPart(other, 'a', Buffer.from('stays'));
      const names = Array.from({ length: 120 }, (_, index) => `part-${index}`);
      await Promise.all(names.map((name) => store.putPart(mine, name, Buffer.from(name))));
      await store.remove(mine);
      for (const name of ['part-0', 'part-119']) await rejects(all(store, mine, [name]), { code: 'missing' });
      await store.remove(mine);
      equal((await all(store, other, ['a'])).toString(), 'stays');
    });

    test('names that could lead elsewhere and parts over 1 MiB are faults of the caller', async () => {
      fresh();
      for (const name of ['', '..', 'a/b', 'A', 'a b', 'ä', 'x'.repeat(129)]) {
        await rejects(store.putPart(address, name, Buffer.from('a')), TypeError);
        await rejects(store.putPart({ ...address, blobId: name }, 'a', Buffer.from('a')), TypeError);
        await rejects(all(store, { ...address, orgId: name as OrgId }, ['a']), TypeError);
        await rejects(store.remove({ ...address, orgId: name as OrgId }), TypeError);
      }
      await rejects(store.putPart(address, 'a', Buffer.alloc(PART_BYTES_MAX + 1)), TypeError);
      await rejects(store.putPart(address, 'a', Buffer.alloc(0)), TypeError);
    });

    test('an unavailable store is reported as such, without content', async () => {
      fresh();
      const canary = randomBytes(8).toString('hex');
      for (const act of [
        () => kept.lost.putPart(address, 'a', Buffer.from(canary)),
        () => all(kept.lost, address, ['a']),
        () => kept.lost.remove(address),
      ]) {
        const before = kept.broken();
        await rejects(act, (error: unknown) => {
          ok(error instanceof BlobError);
          equal(error.code, 'unavailable');
          ok(!error.message.includes(canary) && !inspect(error.stack).includes(canary));
          return true;
        });
        ok(kept.broken() > before, 'it was tried');
      }
    });
  });
}
