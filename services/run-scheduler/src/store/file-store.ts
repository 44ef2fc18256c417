// Stores files that callers send for the inputs of runs, in chunks of rows. A file is valid once its last chunk is
// stored with its hash. It is kept while a run names it, and removed after a day if no run does.
import type { FileId, OrgId, RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { sqlState, storageFault } from '@methods/postgres/database-fault';
import type { Sql } from '@methods/postgres/pool';

const HOUR_MS = 3_600_000;
const KEPT_MS = 24 * HOUR_MS;
/** Longer than any upload takes. */
const ON_ITS_WAY_MS = HOUR_MS;
/** For a file kept for a run that does not exist yet: longer than any start takes. */
const START_MS = HOUR_MS;
/** Per statement, since each may have hundreds of chunks. */
const SWEPT_AT_ONCE = 10;
/** Runs of one file that the sweep looks at. */
const RUNS_LOOKED_AT = 100;
const UNIQUE_VIOLATION = '23505';

/** Per organization. */
export interface FileShare {
  readonly bytesMax: number;
  readonly filesMax: number;
}

export interface FileKey {
  readonly orgId: OrgId;
  readonly fileId: FileId;
}

export interface NewFile extends FileKey {
  readonly owner: string;
  readonly name: string;
  readonly mediaType: string;
  /** An upper bound of the bytes that follow. */
  readonly bytesMax: number;
}

export interface StoredFile {
  readonly fileId: FileId;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly expiresAtMs: number;
}

export interface WholeFile {
  readonly bytes: number;
  readonly sha256: string;
  /** Null: never equal to another upload. */
  readonly idempotencyHash: Uint8Array | null;
}

interface FileRow {
  readonly file_id: FileId;
  readonly name: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly expires_at_ms: number;
}

/** @throws ServiceError `unavailable` while Postgres is unavailable. */
export class FileStore {
  constructor(
    private readonly sql: Sql,
    private readonly share: FileShare,
  ) {}

  /** Reserves bytes for the file. False: the organization's share is used up. */
  async begin({ orgId, fileId, owner, name, mediaType, bytesMax }: NewFile): Promise<boolean> {
    const { share } = this;
    const { count } = await stored(this.sql`
      with share as (
        insert into scheduler.file_shares as s (org_id, bytes, files) values (${orgId}, ${bytesMax}, 1)
        on conflict (org_id) do update set bytes = s.bytes + excluded.bytes, files = s.files + 1
          where s.bytes + excluded.bytes <= ${share.bytesMax}::bigint and s.files < ${share.filesMax}::bigint
        returning org_id)
      insert into scheduler.files (file_id, org_id, owner, name, media_type, bytes, expires_at_ms, look_at_ms)
      select ${fileId}, org_id, ${owner}, ${name}, ${mediaType}, ${bytesMax}, ${this.inMs(ON_ITS_WAY_MS)},
        ${this.inMs(ON_ITS_WAY_MS)}
      from share`);
    return count === 1;
  }

  async append({ orgId, fileId }: FileKey, position: number, chunk: Uint8Array): Promise<void> {
    await stored(this.sql`insert into scheduler.file_chunks (file_id, org_id, position, chunk)
      values (${fileId}, ${orgId}, ${position}, ${chunk}::bytea)`);
  }

  /** Makes the file available to its owner. Null: an upload with its idempotency hash exists already. */
  async finish({ orgId, fileId }: FileKey, { bytes, sha256, idempotencyHash }: WholeFile): Promise<StoredFile | null> {
    const finishing = this.sql<FileRow[]>`
      with reserved as (
        select file_id, bytes from scheduler.files
        where file_id = ${fileId} and org_id = ${orgId} and sha256 is null for update),
      done as (
        update scheduler.files f set bytes = ${bytes}, sha256 = ${sha256}, idempotency_hash = ${idempotencyHash},
          expires_at_ms = ${this.inMs(KEPT_MS)}, look_at_ms = ${this.inMs(KEPT_MS)}
        from reserved r where f.file_id = r.file_id and f.org_id = ${orgId}
        returning f.file_id, f.name, f.media_type, f.bytes, f.sha256, f.expires_at_ms, r.bytes as reserved),
      share as (
        update scheduler.file_shares s set bytes = s.bytes - d.reserved + d.bytes from done d where s.org_id = ${orgId})
      select file_id, name, media_type, bytes, sha256, expires_at_ms from done`;
    try {
      const [row] = await finishing;
      // The file was swept meanwhile, since its upload took longer than allowed.
      if (row === undefined) throw new ServiceError('unavailable', 'The file took too long to arrive.');
      return fileOf(row);
    } catch (error) {
      if (sqlState(error) === UNIQUE_VIOLATION) return null;
      throw error instanceof ServiceError ? error : storageFault(error);
    }
  }

  /**
   * Returns the upload with this hash while it may be named. Afterwards another file gets the hash, and the same one may
   * be named for another day: a repeated start has to name it by the id that its run knows.
   */
  async byIdempotencyHash(
    file: Omit<NewFile, 'fileId' | 'bytesMax'>,
    sha256: string,
    hash: Uint8Array,
  ): Promise<StoredFile | null> {
    const { orgId, owner, name, mediaType } = file;
    const mine = this.sql`org_id = ${orgId} and owner = ${owner} and idempotency_hash = ${hash}`;
    const [row] = await stored(this.sql<FileRow[]>`
      select file_id, name, media_type, bytes, sha256, expires_at_ms from scheduler.files
      where ${mine} and expires_at_ms > ${this.inMs(0)} and sha256 is not null`);
    if (row !== undefined) return fileOf(row);
    const [again] = await stored(this.sql<FileRow[]>`
      update scheduler.files set expires_at_ms = ${this.inMs(KEPT_MS)}, look_at_ms = ${this.inMs(KEPT_MS)}
      where ${mine} and expires_at_ms <= ${this.inMs(0)}
        and name = ${name} and media_type = ${mediaType} and sha256 = ${sha256}
      returning file_id, name, media_type, bytes, sha256, expires_at_ms`);
    if (again !== undefined) return fileOf(again);
    await stored(this.sql`update scheduler.files set idempotency_hash = null
      where ${mine} and expires_at_ms <= ${this.inMs(0)}`);
    return null;
  }

  /** Returns those of the files that their owner may name now. */
  async find(orgId: OrgId, owner: string, fileIds: readonly FileId[]): Promise<StoredFile[]> {
    const rows = await stored(this.sql<FileRow[]>`
      select file_id, name, media_type, bytes, sha256, expires_at_ms from scheduler.files
      where org_id = ${orgId} and owner = ${owner} and file_id = any(${[...fileIds]}::text[])
        and expires_at_ms > ${this.inMs(0)} and sha256 is not null`);
    return rows.map(fileOf);
  }

  /** Removes the file or, if a run names it, only its owner's right to name it. False: its owner has no such file. */
  async remove(orgId: OrgId, owner: string, fileId: FileId): Promise<boolean> {
    const { count } = await stored(this.sql`update scheduler.files
      set expires_at_ms = 0, look_at_ms = 0, idempotency_hash = null
      where file_id = ${fileId} and org_id = ${orgId} and owner = ${owner} and sha256 is not null
        and expires_at_ms > ${this.inMs(0)}`);
    if (count === 0) return false;
    await this.drop({ orgId, fileId });
    return true;
  }

  /**
   * Removes a file that was not finished, or that no run names. If it cannot be removed now, the sweep does so later.
   */
  async drop({ orgId, fileId }: FileKey): Promise<void> {
    await this.dropUnnamed([{ orgId, fileId }]).catch(() => {});
  }

  /** Keeps the owner's files for a run, or none of them. Called before the run is committed. */
  async keepFor(run: { orgId: OrgId; runId: RunId }, owner: string, fileIds: readonly FileId[]): Promise<boolean> {
    const ids = [...new Set(fileIds)];
    const { orgId, runId } = run;
    const { count } = await stored(this.sql`
      with found as materialized (
        select file_id, org_id from scheduler.files
        where org_id = ${orgId} and owner = ${owner} and file_id = any(${ids}::text[])
          and expires_at_ms > ${this.inMs(0)} and sha256 is not null
        for key share)
      insert into scheduler.run_files (run_id, org_id, file_id, named_at_ms)
      select ${runId}, org_id, file_id, ${this.inMs(0)} from found
      where (select count(*) from found) = ${ids.length}`);
    return count === ids.length;
  }

  /** Keeps the same files for another run of the organization. False: the first run is gone, and its files with it. */
  async keepLike(run: { orgId: OrgId; runId: RunId }, firstRunId: string): Promise<boolean> {
    const { orgId, runId } = run;
    const { count } = await stored(this.sql`
      insert into scheduler.run_files (run_id, org_id, file_id, named_at_ms)
      select ${runId}, org_id, file_id, ${this.inMs(0)} from scheduler.run_files
      where run_id = ${firstRunId} and org_id = ${orgId}`);
    return count > 0;
  }

  /** For a run that was never created. The sweep removes the files later. */
  async letGo({ orgId, runId }: { orgId: OrgId; runId: RunId }): Promise<void> {
    await this.sql`delete from scheduler.run_files where run_id = ${runId} and org_id = ${orgId}`.catch(() => {});
  }

  /** Returns a file that the run names, regardless of its sender. Null: it names no such file. */
  async namedBy(run: { orgId: OrgId; runId: RunId }, fileId: FileId): Promise<StoredFile | null> {
    const [row] = await stored(this.sql<FileRow[]>`
      select f.file_id, f.name, f.media_type, f.bytes, f.sha256, f.expires_at_ms from scheduler.run_files r
      join scheduler.files f on f.file_id = r.file_id and f.org_id = r.org_id
      where r.run_id = ${run.runId} and r.org_id = ${run.orgId} and r.file_id = ${fileId}`);
    return row === undefined ? null : fileOf(row);
  }

  /** Returns the chunks of a file in order, while a run names it. */
  async *content(orgId: OrgId, { fileId, bytes }: StoredFile): AsyncGenerator<Uint8Array> {
    let bytesLeft = bytes;
    for (let position = 0; bytesLeft > 0; position++) {
      const [row] = await stored(this.sql<{ chunk: Uint8Array }[]>`select chunk from scheduler.file_chunks
        where file_id = ${fileId} and org_id = ${orgId} and position = ${position}`);
      if (row === undefined) throw new ServiceError('unavailable', 'The file was deleted meanwhile.');
      bytesLeft -= row.chunk.length;
      yield row.chunk;
    }
  }

  /** Looks at up to `max` files whose time is over. True: there may be more. */
  async sweep(max = SWEPT_AT_ONCE): Promise<boolean> {
    const rows = await stored(this.sql<{ file_id: FileId; org_id: OrgId }[]>`
      select file_id, org_id from scheduler.files where look_at_ms <= ${this.inMs(0)}
      order by look_at_ms, file_id, org_id limit ${max}`);
    if (rows.length === 0) return false;
    const files = rows.map((row) => ({ orgId: row.org_id, fileId: row.file_id }));
    await this.forgetLostRuns(files);
    await this.dropUnnamed(files);
    await stored(this.sql`
      update scheduler.files f set look_at_ms = ${this.inMs(KEPT_MS)}
      from unnest(${rows.map((row) => row.file_id)}::text[], ${rows.map((row) => row.org_id)}::text[]) as t(file_id, org_id)
      where f.file_id = t.file_id and f.org_id = t.org_id`);
    return rows.length === max;
  }

  /** Looks at up to a hundred runs of each file: one existing run is enough to keep it. */
  private async forgetLostRuns(files: readonly FileKey[]): Promise<void> {
    await stored(this.sql`
      delete from scheduler.run_files p
      using unnest(${files.map((it) => it.fileId)}::text[], ${files.map((it) => it.orgId)}::text[]) as t(file_id, org_id)
      cross join lateral (
        select run_id from scheduler.run_files named
        where named.file_id = t.file_id and named.org_id = t.org_id limit ${RUNS_LOOKED_AT}) looked
      where p.run_id = looked.run_id and p.org_id = t.org_id and p.file_id = t.file_id
        and p.named_at_ms < ${this.inMs(-START_MS)}
        and not exists (select from scheduler.runs r where r.run_id = p.run_id and r.org_id = p.org_id)`);
  }

  private async dropUnnamed(files: readonly FileKey[]): Promise<void> {
    await stored(this.sql`
      with gone as (
        delete from scheduler.files f
        using unnest(${files.map((it) => it.fileId)}::text[], ${files.map((it) => it.orgId)}::text[]) as t(file_id, org_id)
        where f.file_id = t.file_id and f.org_id = t.org_id and (f.sha256 is null or f.expires_at_ms <= ${this.inMs(0)})
          and not exists (select from scheduler.run_files n where n.file_id = f.file_id and n.org_id = f.org_id)
        returning f.org_id, f.bytes),
      sums as (select org_id, sum(bytes) as bytes, count(*) as files from gone group by org_id)
      update scheduler.file_shares s set bytes = s.bytes - sums.bytes, files = s.files - sums.files
      from sums where s.org_id = sums.org_id`);
  }

  /** By the database's clock, which all nodes share. */
  private inMs(ms: number) {
    return this.sql`((extract(epoch from statement_timestamp()) * 1000)::bigint + ${ms}::bigint)`;
  }
}

function fileOf(row: FileRow): StoredFile {
  return {
    fileId: row.file_id,
    name: row.name,
    mediaType: row.media_type,
    bytes: Number(row.bytes),
    sha256: row.sha256,
    expiresAtMs: Number(row.expires_at_ms),
  };
}

async function stored<Rows>(statement: PromiseLike<Rows>): Promise<Rows> {
  try {
    return await statement;
  } catch (error) {
    throw storageFault(error);
  }
}
