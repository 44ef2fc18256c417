// Stores the folders of runs, with the files that a run's steps left, in chunks of rows. A folder is valid once its run
// names it; its sender gets the id only when the last chunk is stored. It is removed with its run; a folder that no run
// names is swept.

import type { FolderId, OrgId, RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';
import type { Sql } from '@methods/postgres/pool';

/**
 * Small chunks are joined: with a row and a statement for each byte, the cost would be a hundred times the folder's
 * size.
 */
const ROW_BYTES_MIN = 64 << 10;
const HOUR_MS = 3_600_000;
/** 4 MiB in one statement. */
const COPIED_AT_ONCE = 64;
/** Longer than any upload takes. */
const ORPHAN_AGE_MS = 24 * HOUR_MS;
/** A folder that sweeps have missed for this long is removed with its run. */
const ORPHAN_AGE_MAX_MS = 7 * ORPHAN_AGE_MS;
/** Per statement, since each may have thousands of chunks. */
const SWEPT_AT_ONCE = 10;

/** Folders one statement looks at. */
const LOOKED_AT = 500;

/** The position of a sweep. */
export interface FolderPlace {
  readonly createdAtMs: number;
  /** Both empty: before all folders. */
  readonly folderId: FolderId | '';
  readonly orgId: OrgId | '';
}

export interface SweptFolders {
  readonly lookedAt: number;
  readonly removed: number;
  readonly place: FolderPlace;
  /** More folders are old enough. */
  readonly more: boolean;
}

interface FolderRow {
  readonly folder_id: FolderId;
  readonly org_id: OrgId;
  readonly created_at_ms: number;
  readonly unnamed: boolean;
}

/** More or fewer bytes arrived than announced; nothing is kept. */
export class FolderNotWhole extends Error {
  override readonly name = 'FolderNotWhole';
}

export interface RunFolderKey {
  readonly folderId: FolderId;
  readonly orgId: OrgId;
  readonly runId: RunId;
}

/** @throws ServiceError `unavailable` while Postgres is unavailable. */
export class RunFolderStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Stores all chunks. Each row has its own statement, so neither a transaction nor a connection waits for a slow
   * sender. @throws FolderNotWhole when they are not `bytesTotal` bytes.
   */
  async put(folder: RunFolderKey, chunks: AsyncIterable<Uint8Array>, bytesTotal: number): Promise<void> {
    await this.whole(folder, bytesTotal, async () => {
      let position = 0;
      let bytes = 0;
      for await (const row of rowsOf(chunks)) {
        bytes += row.length;
        if (bytes > bytesTotal) throw new FolderNotWhole();
        await stored(this.sql`insert into scheduler.run_folder_chunks (folder_id, org_id, position, chunk)
          values (${folder.folderId}, ${folder.orgId}, ${position++}, ${row})`);
      }
      if (bytes !== bytesTotal) throw new FolderNotWhole();
    });
  }

  /** Copies the files for another run of the organization. False: there is no such folder. */
  async copy(from: RunFolderKey, to: RunFolderKey): Promise<boolean> {
    const [found] = await stored(this.sql<{ bytes_total: number }[]>`select bytes_total from scheduler.run_folders
      where folder_id = ${from.folderId} and org_id = ${from.orgId} and run_id = ${from.runId}`);
    if (found === undefined) return false;
    await this.whole(to, found.bytes_total, async () => {
      for (let position = 0; ; position += COPIED_AT_ONCE) {
        const { count } = await stored(this.sql`
          insert into scheduler.run_folder_chunks (folder_id, org_id, position, chunk)
          select ${to.folderId}, org_id, position, chunk from scheduler.run_folder_chunks
          where folder_id = ${from.folderId} and org_id = ${from.orgId}
            and position >= ${position} and position < ${position + COPIED_AT_ONCE}`);
        if (count < COPIED_AT_ONCE) return;
      }
    });
    return true;
  }

  /** If the removal fails now, the sweep repeats it later. */
  async remove({ folderId, orgId }: RunFolderKey): Promise<void> {
    await this.sql`delete from scheduler.run_folders where folder_id = ${folderId} and org_id = ${orgId}`.catch(
      () => {},
    );
  }

  /** Stores everything that `fill` writes, or nothing. */
  private async whole(folder: RunFolderKey, bytesTotal: number, fill: () => Promise<void>): Promise<void> {
    const { folderId, orgId, runId } = folder;
    await stored(this.sql`insert into scheduler.run_folders (folder_id, org_id, run_id, bytes_total, created_at_ms)
      values (${folderId}, ${orgId}, ${runId}, ${bytesTotal}, extract(epoch from clock_timestamp()) * 1000)`);
    try {
      await fill();
    } catch (error) {
      await this.remove(folder);
      throw error;
    }
  }

  /**
   * Returns the chunks in order, or null when the organization has no such folder of that run. Fails with `unavailable`
   * if the folder is removed meanwhile, since the chunks are then incomplete.
   */
  async get(folder: RunFolderKey): Promise<AsyncIterable<Uint8Array> | null> {
    const { folderId, orgId, runId } = folder;
    const [found] = await stored(this.sql<{ bytes_total: number }[]>`select bytes_total from scheduler.run_folders
      where folder_id = ${folderId} and org_id = ${orgId} and run_id = ${runId}`);
    if (found === undefined) return null;
    const { sql } = this;
    return (async function* () {
      let bytesLeft = found.bytes_total;
      for (let position = 0; bytesLeft > 0; position++) {
        const rows = await stored(sql<{ chunk: Uint8Array }[]>`select chunk from scheduler.run_folder_chunks
          where folder_id = ${folderId} and org_id = ${orgId} and position = ${position}`);
        if (rows[0] === undefined)
          throw new ServiceError('unavailable', 'The run has saved its files again meanwhile.');
        bytesLeft -= rows[0].chunk.length;
        yield rows[0].chunk;
      }
    })();
  }

  /**
   * Removes the run's folders older than the one it names: each saved folder holds all files of the run so far, and an
   * earlier one is never named again.
   */
  async dropReplaced(orgId: OrgId, runId: RunId): Promise<void> {
    await stored(this.sql`delete from scheduler.run_folders f
      using scheduler.runs r, scheduler.run_folders named
      where r.run_id = ${runId} and r.org_id = ${orgId} and named.folder_id = r.folder_id and named.org_id = r.org_id
        and f.run_id = r.run_id and f.org_id = r.org_id and f.created_at_ms < named.created_at_ms`);
  }

  /**
   * Reads the next folders older than a day, in the order of their age, and removes those that their run does not name.
   * Each call reads a bounded number, so every call makes progress.
   */
  async sweep(after: FolderPlace, lookedAtMax = LOOKED_AT): Promise<SweptFolders> {
    const nowMs = await this.nowMs();
    const fromMs = Math.max(after.createdAtMs, nowMs - ORPHAN_AGE_MAX_MS);
    const rows = await this.sql<FolderRow[]>`
      select f.folder_id, f.org_id, f.created_at_ms, r.folder_id is distinct from f.folder_id as unnamed
      from (
        select folder_id, org_id, run_id, created_at_ms from scheduler.run_folders
        where (created_at_ms, folder_id, org_id) > (${fromMs}::bigint, ${after.folderId}, ${after.orgId})
          and created_at_ms < ${nowMs - ORPHAN_AGE_MS}::bigint
        order by created_at_ms, folder_id, org_id limit ${lookedAtMax}) f
      left join scheduler.runs r on r.run_id = f.run_id and r.org_id = f.org_id
      order by f.created_at_ms, f.folder_id, f.org_id`;
    const unnamed = rows.filter((row) => row.unnamed);
    for (let from = 0; from < unnamed.length; from += SWEPT_AT_ONCE)
      await this.removeUnnamed(unnamed.slice(from, from + SWEPT_AT_ONCE));
    const last = rows.at(-1);
    const more = rows.length === lookedAtMax && last !== undefined;
    const place = last && { createdAtMs: last.created_at_ms, folderId: last.folder_id, orgId: last.org_id };
    return { lookedAt: rows.length, removed: unnamed.length, place: place ?? after, more };
  }

  /** A run may have named one of them since they were read. */
  private async removeUnnamed(folders: readonly FolderRow[]): Promise<void> {
    await this.sql`
      delete from scheduler.run_folders f
      using unnest(${folders.map((f) => f.folder_id)}::text[], ${folders.map((f) => f.org_id)}::text[]) as t(folder_id, org_id)
      where f.folder_id = t.folder_id and f.org_id = t.org_id and not exists (
        select from scheduler.runs r
        where r.run_id = f.run_id and r.org_id = f.org_id and r.folder_id = f.folder_id)`;
  }

  private async nowMs(): Promise<number> {
    const [row] = await this.sql<{ now_ms: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`;
    return row?.now_ms ?? 0;
  }
}

async function* rowsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes < ROW_BYTES_MIN) continue;
    yield Buffer.concat(parts);
    parts = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(parts);
}

async function stored<Rows>(statement: PromiseLike<Rows>): Promise<Rows> {
  try {
    return await statement;
  } catch (error) {
    throw storageFault(error);
  }
}
