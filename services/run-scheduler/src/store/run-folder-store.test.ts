import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type FolderId, newId, type OrgId, type RunId } from '@methods/base/ids';
import { openPool } from '@methods/postgres/pool';
import { until } from '@methods/test/harness/until';
import { ask, cancel, claim, succeed } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { FolderNotWhole, RunFolderStore } from './run-folder-store.ts';
import { newFacts, startOf, TestStore } from './run-store.fixture.ts';

const DAY_MS = 24 * 3_600_000;

describe('saved run folders', () => {
  let db: TestStore;
  let folders: RunFolderStore;

  before(async () => {
    db = await TestStore.open();
    folders = new RunFolderStore(db.sql);
  });
  after(() => db.close());
  beforeEach(async () => {
    await db.sql`delete from scheduler.run_folders`;
  });

  async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
    for (const text of texts) yield Buffer.from(text);
  }

  function newFolder(runId = newFacts(0).runId) {
    return { folderId: newId('fld'), orgId: 'org_a' as OrgId, runId };
  }

  async function read(folder: ReturnType<typeof newFolder>): Promise<string | null> {
    const found = await folders.get(folder);
    if (found === null) return null;
    let text = '';
    for await (const chunk of found) text += Buffer.from(chunk).toString();
    return text;
  }

  async function age(folderId: FolderId, ms: number): Promise<void> {
    await db.sql`update scheduler.run_folders set created_at_ms = created_at_ms - ${ms} where folder_id = ${folderId}`;
  }

  test('are returned whole and in order, only to their own run and organization', async () => {
    const folder = newFolder();
    const many = Array.from({ length: 30 }, (_, i) => `chunk ${i};`);
    await folders.put(folder, chunks(...many), many.join('').length);
    assert.equal(await read(folder), many.join(''));
    assert.equal(await read({ ...folder, orgId: 'org_b' }), null);
    assert.equal(await read({ ...folder, runId: newFacts(0).runId }), null);
  });

  test('leave nothing if they end early or differ from what was announced', async () => {
    const [broken, long, short] = [newFolder(), newFolder(), newFolder()];
    async function* cut() {
      yield* chunks('a');
      throw new Error('the sender is gone');
    }
    await assert.rejects(folders.put(broken, cut(), 2), /the sender is gone/);
    await assert.rejects(folders.put(long, chunks('a', 'bcd'), 3), FolderNotWhole);
    await assert.rejects(folders.put(short, chunks('a'), 3), FolderNotWhole);
    for (const folder of [broken, long, short]) assert.equal(await read(folder), null);
    assert.equal((await db.sql`select from scheduler.run_folder_chunks`).length, 0);
  });

  test('hold no connection while their sender is silent', async () => {
    const one = openPool({ url: db.url, applicationName: 'test', max: 1, statementTimeoutMs: 60_000 });
    const store = new RunFolderStore(one);
    const other = newFolder();
    await folders.put(other, chunks('x'), 1);
    const folder = newFolder();
    let goOn: (() => void) | undefined;
    async function* slow() {
      yield Buffer.alloc(65_536, 'a');
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      yield Buffer.from('end');
    }
    const put = store.put(folder, slow(), 65_539);
    await until('it waits for the second piece', () => goOn !== undefined);
    assert.notEqual(await store.get(other), null);
    // The server ends a connection that waits in a transaction after a second.
    const waiting = await db.sql`select 1 from pg_stat_activity where state like 'idle in transaction%'
      and datname = current_database()`;
    assert.equal(waiting.length, 0);
    goOn?.();
    await put;
    assert.equal((await read(folder))?.length, 65_539);
    await one.end({ timeout: 1 });
  });

  test('fail to be read when they are removed meanwhile', async () => {
    const folder = newFolder();
    await folders.put(folder, chunks('a'.repeat(65_536), 'b'), 65_537);
    const reading = (await folders.get(folder))?.[Symbol.asyncIterator]();
    assert.equal((await reading?.next())?.value?.length, 65_536);
    await folders.remove(folder);
    await assert.rejects(async () => reading?.next(), { code: 'unavailable' });
  });

  test('stores small chunks in few rows', async () => {
    const folder = newFolder();
    const text = '0123456789'.repeat(15_000);
    async function* single() {
      for (const character of text) yield Buffer.from(character);
    }
    await folders.put(folder, single(), text.length);
    assert.equal((await db.sql`select from scheduler.run_folder_chunks`).length, 3);
    assert.equal(await read(folder), text);
  });

  test('are removed when their run names a later one', async () => {
    const [early, named, late] = Array.from({ length: 3 }, () => newId('fld'));
    assert.ok(early && named && late);
    const facts = newFacts(0);
    const other = newFolder();
    await folders.put(other, chunks('x'), 1);
    await db.tell(null, startOf(facts), claim('t1'), { ...ask('t1', 1), folderId: named } as ReturnType<typeof ask>);
    for (const folderId of [early, named, late]) {
      await folders.put({ folderId, orgId: 'org_a', runId: facts.runId }, chunks('x'), 1);
    }
    await age(early, 2);
    await age(named, 1);
    await folders.dropReplaced('org_b', facts.runId);
    await folders.dropReplaced('org_a', facts.runId);
    const left = await db.sql<{ folder_id: FolderId }[]>`select folder_id from scheduler.run_folders`;
    assert.deepEqual(new Set(left.map((row) => row.folder_id)), new Set([named, late, other.folderId]));
  });

  test('are reported as unavailable while Postgres is down', async () => {
    const away = openPool({
      url: 'postgres://nobody@127.0.0.1:1/x',
      applicationName: 'test',
      max: 1,
      statementTimeoutMs: 500,
    });
    const store = new RunFolderStore(away);
    await assert.rejects(store.put(newFolder(), chunks('x'), 1), { code: 'unavailable' });
    await assert.rejects(store.get(newFolder()), { code: 'unavailable' });
    await assert.rejects(folders.get({ ...newFolder(), folderId: 'fld_\0' }), { code: 'invalid_request' });
    await away.end({ timeout: 0 });
  });

  test('are swept when they are a day old and no run needs them', async () => {
    const asking = async (folderId: FolderId | null): Promise<Run> => {
      const facts = newFacts(0);
      return db.tell(null, startOf(facts), claim('t1'), { ...ask('t1', 1), folderId } as ReturnType<typeof ask>);
    };
    const [orphan, needed, replaced, ended, young, finished] = Array.from({ length: 6 }, () => newId('fld'));
    assert.ok(orphan && needed && replaced && ended && young && finished);
    const put = (folderId: FolderId, runId: RunId) =>
      folders.put({ folderId, orgId: 'org_a' as OrgId, runId }, chunks('x'), 1);
    await put(orphan, newFacts(0).runId);
    await put(young, newFacts(0).runId);
    await put(needed, (await asking(needed)).facts.runId);
    await put(replaced, (await asking(newId('fld'))).facts.runId);
    const facts = newFacts(0);
    await db.tell(null, startOf(facts), claim('t1'), succeed('t1', 1));
    await put(ended, facts.runId);
    const over = await asking(finished);
    await put(finished, over.facts.runId);
    await db.tell(over, cancel);
    for (const folderId of [orphan, needed, replaced, ended, finished]) await age(folderId, DAY_MS + 1);
    const first = { createdAtMs: 0, folderId: '', orgId: '' } as const;
    const pages = [await folders.sweep(first, 3)];
    for (let page = pages[0]; page?.more; page = pages.at(-1)) pages.push(await folders.sweep(page.place, 3));
    assert.deepEqual(
      [pages.length, pages.reduce((sum, page) => sum + page.removed, 0), pages.every((page) => page.lookedAt <= 3)],
      [2, 3, true],
    );
    const left = await db.sql<{ folder_id: FolderId }[]>`select folder_id from scheduler.run_folders`;
    assert.deepEqual(new Set(left.map((row) => row.folder_id)), new Set([needed, young, finished]));
    assert.equal((await db.sql`select from scheduler.run_folder_chunks`).length, 3);
  });
});
