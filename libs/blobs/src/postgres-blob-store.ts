// Stores parts as rows of the table `blob_parts` in the schema of the service that uses them; its migrations create the
// table.
import { withDeadline } from '@methods/postgres/deadline';
import type { Sql } from '@methods/postgres/pool';
import { type BlobAddress, BlobError, type BlobStore, checkNames, checkPart } from './blob-store.ts';

const QUERY_DEADLINE_MS = 5_000;

/**
 * Needs `schema.blob_parts (org_id text, blob_id text, part_name text, bytes bytea, primary key (org_id, blob_id,
 * part_name))`.
 */
export class PostgresBlobStore implements BlobStore {
  constructor(
    private readonly sql: Sql,
    private readonly schema: string,
  ) {}

  async putPart(address: BlobAddress, partName: string, bytes: Uint8Array): Promise<void> {
    checkNames(address, partName);
    checkPart(bytes);
    const { sql } = this;
    await reached(sql`
      insert into ${this.table} as kept (org_id, blob_id, part_name, bytes)
      values (${address.orgId}, ${address.blobId}, ${partName}, ${bytes}::bytea)
      on conflict (org_id, blob_id, part_name) do update set bytes = excluded.bytes
      where kept.bytes <> excluded.bytes`);
  }

  async *read(address: BlobAddress, partNames: Iterable<string>): AsyncGenerator<Uint8Array> {
    checkNames(address);
    for (const partName of partNames) {
      checkNames(address, partName);
      const { sql } = this;
      const [row] = await reached(sql<{ bytes: Buffer }[]>`
        select bytes from ${this.table}
        where org_id = ${address.orgId} and blob_id = ${address.blobId} and part_name = ${partName}`);
      if (row === undefined) throw new BlobError('missing', 'A part is not there.');
      yield row.bytes;
    }
  }

  async remove(address: BlobAddress): Promise<void> {
    checkNames(address);
    const { sql } = this;
    await reached(sql`
      delete from ${this.table} where org_id = ${address.orgId} and blob_id = ${address.blobId}`);
  }

  private get table() {
    return this.sql(`${this.schema}.blob_parts`);
  }
}

async function reached<Rows>(query: PromiseLike<Rows>): Promise<Rows> {
  try {
    return await withDeadline(query, QUERY_DEADLINE_MS);
  } catch (error) {
    throw new BlobError('unavailable', 'The store of recordings cannot be reached.', error);
  }
}
