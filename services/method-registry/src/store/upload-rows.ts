// The columns that uploads are read from, with the methods created from them, and the meaning of the rows.
import type { OrgId, UploadId } from '@methods/base/ids';
import type { PendingQuery, Row } from 'postgres';
import type { Upload } from '../upload/upload.ts';
import { type MethodRow, methodColumns, methodJoins, toMethod } from './method-rows.ts';
import type { Statements } from './registry-database.ts';

type Nullable<Columns> = { [Column in keyof Columns]: Columns[Column] | null };

export type UploadRow = Nullable<MethodRow> & {
  readonly upload_org_id: OrgId;
  readonly upload_id: UploadId;
  readonly upload_name: string;
  readonly file_name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly offset_bytes: number;
  readonly upload_created_at: Date;
  readonly expires_at: Date;
  readonly blob_id: string;
};

/** Selects uploads `u` with their methods; a `where` follows. A link expires with the access of the person who made it. */
export function selectUploads(sql: Statements): PendingQuery<Row[]> {
  return sql`
    select u.org_id as upload_org_id, u.upload_id, u.display_name as upload_name, u.file_name, u.content_type,
      u.size_bytes, u.offset_bytes, u.created_at as upload_created_at, least(u.expires_at, p.disabled_at) as expires_at,
      u.blob_id, ${methodColumns(sql)}
    from registry.uploads u
    left join registry.users p on p.org_id = u.org_id and p.user_id = u.created_by
    left join registry.methods m on m.org_id = u.org_id and m.method_id = u.method_id
    ${methodJoins(sql)}`;
}

export function toUpload(row: UploadRow): Upload {
  return {
    orgId: row.upload_org_id,
    uploadId: row.upload_id,
    displayName: row.upload_name,
    fileName: row.file_name,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    offsetBytes: row.offset_bytes,
    createdAt: row.upload_created_at,
    expiresAt: row.expires_at,
    blobId: row.blob_id,
    method: row.method_id === null ? null : toMethod(row as MethodRow),
  };
}
