// Saved run folders: what a waiting run's steps left as files, in chunks of rows. A folder counts only when its
// last chunk is there; one that no run names is swept away.
import type { Sql } from '@methods/postgres/pool';

const ORPHAN_AGE_MS = 24 * 3_600_000;

/** More or fewer bytes came than were announced; nothing is kept. */
export class FolderNotWhole extends Error {
  override readonly name = 'FolderNotWhole';
}

export class RunFolderStore {
  constructor(private readonly sql: Sql) {}

  /** Stores all chunks in one transaction. @throws FolderNotWhole when they are not `bytesTotal` bytes. */
  async put(
    folder: { folderId: string; orgId: string; runId: string },
    chunks: AsyncIterable<Uint8Array>,
    bytesTotal: number,
  ): Promise<void> {
    const { folderId, orgId, runId } = folder;
    await this.sql.begin(async (tx) => {
      await tx`insert into scheduler.run_folders (folder_id, org_id, run_id, bytes_total, created_at_ms)
        values (${folderId}, ${orgId}, ${runId}, ${bytesTotal}, extract(epoch from clock_timestamp()) * 1000)`;
      let position = 0;
      let bytes = 0;
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > bytesTotal) throw new FolderNotWhole();
        await tx`insert into scheduler.run_folder_chunks (folder_id, org_id, position, chunk)
          values (${folderId}, ${orgId}, ${position++}, ${Buffer.from(chunk)})`;
      }
      if (bytes !== bytesTotal) throw new FolderNotWhole();
    });
  }

  /** The chunks in order, or null when the organization has no such folder of that run. */
  async get(folder: { folderId: string; orgId: string; runId: string }): Promise<AsyncIterable<Uint8Array> | null> {
    const { folderId, orgId, runId } = folder;
    const found = await this.sql`select 1 from scheduler.run_folders
      where folder_id = ${folderId} and org_id = ${orgId} and run_id = ${runId}`;
    if (found.length === 0) return null;
    const { sql } = this;
    return (async function* () {
      for (let position = 0; ; position++) {
        const rows = await sql<{ chunk: Uint8Array }[]>`select chunk from scheduler.run_folder_chunks
          where folder_id = ${folderId} and org_id = ${orgId} and position = ${position}`;
        if (rows[0] === undefined) return;
        yield rows[0].chunk;
      }
    })();
  }

  /** Removes folders older than a day that their run no longer names, or whose run has ended. */
  async sweep(limit: number): Promise<number> {
    const gone = await this.sql`delete from scheduler.run_folders f using (
        select f.folder_id, f.org_id from scheduler.run_folders f
        left join scheduler.runs r on r.run_id = f.run_id and r.org_id = f.org_id
        where f.created_at_ms < extract(epoch from clock_timestamp()) * 1000 - ${ORPHAN_AGE_MS}
          and (r.run_id is null or r.folder_id is distinct from f.folder_id or r.status in ('succeeded', 'failed', 'cancelled'))
        limit ${limit}) old
      where f.folder_id = old.folder_id and f.org_id = old.org_id`;
    return gone.count;
  }
}
