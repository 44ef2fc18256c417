// Uploads in registry.uploads and upload_parts. Each change is one statement: a complete upload has its method and its
// build, and a counted part directly follows the ones before. The bytes are in the blob store.
import { assert } from '@methods/base/assert';
import { newId, newMethodId, type OrgId, randomToken, type UploadId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { inject, injectable } from 'tsyringe';
import type { Doer } from '../audit/audit-entry.ts';
import { LARGE_RECORDING_BYTES, LINK_MS, type Upload } from '../upload/upload.ts';
import { auditRow } from './audit-store.ts';
import { Database, query, Reader } from './registry-database.ts';
import { selectUploads, toUpload, type UploadRow } from './upload-rows.ts';

export interface NewUpload {
  readonly orgId: OrgId;
  /** SHA-256 of the creation key. */
  readonly idempotencyHash: Uint8Array;
  readonly tokenSha256: Uint8Array;
  /** Empty: none was given. */
  readonly displayName: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly doer: Doer;
}

/** Gives the creation key's upload another link, which ends the previous one. */
export type LinkRenewal = Pick<NewUpload, 'orgId' | 'idempotencyHash' | 'tokenSha256' | 'doer'>;

/** A part that the blob store has already, to be counted from now on. */
export interface ReceivedPart {
  /**
   * The upload as it was when the part was stored: at another offset, or in another blob, the part is not the next one.
   */
  readonly upload: Upload;
  readonly partName: string;
  readonly partBytes: number;
  /** Of the method that the last byte creates. */
  readonly displayName: string;
  readonly doer: Doer;
}

export interface AbandonedParts {
  readonly orgId: OrgId;
  readonly uploadId: UploadId;
  readonly blobId: string;
}

/** How long after its expiry a link may still be renewed, so that the upload continues. */
const PATIENCE_MS = 24 * 60 * 60 * 1000;

@injectable()
export class UploadStore {
  constructor(
    @inject(Database) private readonly sql: Database,
    @inject(Reader) private readonly reader: Reader,
  ) {}

  /** Any number of requests with one key create one upload. @throws ServiceError not_found, idempotency_conflict. */
  async create(upload: NewUpload): Promise<{ upload: Upload; created: boolean }> {
    const { orgId, idempotencyHash, tokenSha256, displayName, fileName, contentType, sizeBytes, doer } = upload;
    const { sql } = this;
    const uploadId = newId('upl');
    // A concurrent creation with the same key waits here on the request's row, then creates nothing.
    const made = await query(
      sql`
        with request as (
          insert into registry.creation_requests (org_id, idempotency_hash, upload_id)
          values (${orgId}, ${idempotencyHash}, ${uploadId})
          on conflict on constraint creation_requests_pkey do nothing
          returning org_id, upload_id
        ), upload as (
          insert into registry.uploads
            (org_id, upload_id, token_sha256, display_name, file_name, content_type, size_bytes, blob_id, created_by, expires_at)
          select org_id, upload_id, ${tokenSha256}::bytea, ${displayName}, ${fileName}, ${contentType}, ${sizeBytes},
            upload_id, ${doer.id}, now() + ${LINK_MS} * interval '1 ms'
          from request
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'upload.create', targetKind: 'upload' },
            {
              source: 'request',
              targetId: sql`upload_id`,
              before: sql`null`,
              after: sql`jsonb_build_object('file_name', ${fileName}::text, 'size_bytes', ${sizeBytes}::bigint)`,
            },
          )}
        )
        select upload_id from request`,
      {
        uploads_org_fkey: noSuchOrganization,
        audit_org_fkey: noSuchOrganization,
        uploads_token_key: tokenIsTaken,
      },
    );
    if (made.length > 0) return { upload: await this.find(orgId, uploadId), created: true };
    const known = await this.renewLink(upload);
    assert(known !== null, 'what a creation key made is there');
    return { upload: known, created: false };
  }

  /** Null if the key has created nothing yet. @throws ServiceError idempotency_conflict: the key created a method. */
  async renewLink({ orgId, idempotencyHash, tokenSha256, doer }: LinkRenewal): Promise<Upload | null> {
    const { sql } = this;
    const [request] = await query(
      sql<{ upload_id: UploadId | null }[]>`
        with request as (
          select org_id, upload_id from registry.creation_requests
          where org_id = ${orgId} and idempotency_hash = ${idempotencyHash}
        ), renewed as (
          update registry.uploads u
          set token_sha256 = ${tokenSha256}::bytea, expires_at = now() + ${LINK_MS} * interval '1 ms'
          from request r where u.org_id = r.org_id and u.upload_id = r.upload_id
          returning u.org_id, u.upload_id, u.expires_at
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'upload.renew_link', targetKind: 'upload' },
            {
              source: 'renewed',
              targetId: sql`upload_id`,
              before: sql`null`,
              after: sql`jsonb_build_object('expires_at', expires_at)`,
            },
          )}
        )
        select upload_id from request`,
      { uploads_token_key: tokenIsTaken },
    );
    if (request === undefined) return null;
    if (request.upload_id !== null) return await this.find(orgId, request.upload_id);
    throw new ServiceError('idempotency_conflict', 'This key belongs to a method.');
  }

  /** @throws ServiceError not_found. */
  async find(orgId: OrgId, uploadId: UploadId): Promise<Upload> {
    const [row] = await query(
      this.reader.read(
        orgId,
        (sql) => sql<UploadRow[]>`
          ${selectUploads(sql)} where u.org_id = ${orgId} and u.upload_id = ${uploadId}`,
      ),
    );
    if (row === undefined) throw new ServiceError('not_found', 'There is no such upload.');
    return toUpload(row);
  }

  /** Returns null for unknown, replaced and expired tokens. */
  async findByToken(tokenSha256: Uint8Array): Promise<Upload | null> {
    const { sql } = this;
    const [row] = await query(sql<UploadRow[]>`
      ${selectUploads(sql)} where u.token_sha256 = ${tokenSha256} and u.expires_at > now() and p.disabled_at is null`);
    return row === undefined ? null : toUpload(row);
  }

  /**
   * Returns false, and changes nothing, if the upload is no longer at the part's place, or its link has expired. The
   * part that completes it also creates the method and its build. @throws ServiceError too_large: too many parts.
   */
  async receive({ upload, partName, partBytes, displayName, doer }: ReceivedPart): Promise<boolean> {
    const { orgId, uploadId, blobId, offsetBytes } = upload;
    const { sql } = this;
    const received = await query(
      sql`
        with received as (
          update registry.uploads set offset_bytes = offset_bytes + ${partBytes}, part_count = part_count + 1,
            method_id = case when offset_bytes + ${partBytes} = size_bytes then ${newMethodId()} end
          where org_id = ${orgId} and upload_id = ${uploadId} and blob_id = ${blobId}
            and offset_bytes = ${offsetBytes} and method_id is null and expires_at > now()
          returning org_id, upload_id, blob_id, method_id, created_by, size_bytes
        ), part as (
          insert into registry.upload_parts (org_id, upload_id, blob_id, offset_bytes, part_name)
          select org_id, upload_id, blob_id, ${offsetBytes}, ${partName} from received
        ), whole as (
          select * from received where method_id is not null
        ), method as (
          insert into registry.methods (org_id, method_id, display_name, created_by)
          select org_id, method_id, ${displayName}, created_by from whole
        ), build as (
          insert into registry.builds (org_id, method_id, upload_id, is_large, due_at)
          select org_id, method_id, upload_id, size_bytes > ${LARGE_RECORDING_BYTES}, now() from whole
        ), audited as (
          ${auditRow(
            sql,
            { doer, action: 'method.create', targetKind: 'method' },
            {
              source: 'whole',
              targetId: sql`method_id`,
              before: sql`null`,
              after: sql`jsonb_build_object('display_name', ${displayName}::text, 'upload_id', upload_id)`,
            },
          )}
        )
        select upload_id from received`,
      { uploads_parts_check: () => new ServiceError('too_large', 'The recording came in too many pieces.') },
    );
    return received.length > 0;
  }

  /** Returns the parts of an upload in order. */
  async partNames(orgId: OrgId, uploadId: UploadId): Promise<string[]> {
    const rows = await query(
      this.reader.read(
        orgId,
        (sql) => sql<{ part_name: string }[]>`
          select p.part_name from registry.uploads u
          join registry.upload_parts p
            on p.org_id = u.org_id and p.upload_id = u.upload_id and p.blob_id = u.blob_id
          where u.org_id = ${orgId} and u.upload_id = ${uploadId}
          order by p.offset_bytes`,
      ),
    );
    return rows.map((row) => row.part_name);
  }

  /**
   * Returns the parts of an upload whose link expired long ago, which begins again if its key ever renews it; null:
   * none.
   */
  async nextAbandoned(): Promise<AbandonedParts | null> {
    const { sql } = this;
    // The statement that gives up the old blob also sets the new one's name: a sender that returns meanwhile begins at
    // 0, and none of its parts is removed.
    const [row] = await query(sql<{ org_id: OrgId; upload_id: UploadId; abandoned_blob_id: string }[]>`
      with next as (
        select org_id, upload_id from registry.uploads
        where expires_at < now() - ${PATIENCE_MS} * interval '1 ms'
          and ((method_id is null and offset_bytes > 0) or abandoned_blob_id is not null)
        order by expires_at limit 1
        for update skip locked
      )
      update registry.uploads u set
        abandoned_blob_id = coalesce(u.abandoned_blob_id, u.blob_id),
        blob_id = case when u.abandoned_blob_id is null then ${randomToken()} else u.blob_id end,
        offset_bytes = case when u.abandoned_blob_id is null then 0 else u.offset_bytes end,
        part_count = case when u.abandoned_blob_id is null then 0 else u.part_count end
      from next where u.org_id = next.org_id and u.upload_id = next.upload_id
      returning u.org_id, u.upload_id, u.abandoned_blob_id`);
    if (row === undefined) return null;
    return { orgId: row.org_id, uploadId: row.upload_id, blobId: row.abandoned_blob_id };
  }

  /** Called once the parts are removed. */
  async forgetAbandoned({ orgId, uploadId, blobId }: AbandonedParts): Promise<void> {
    await query(this.sql`
      with removed as (
        delete from registry.upload_parts
        where org_id = ${orgId} and upload_id = ${uploadId} and blob_id = ${blobId}
      )
      update registry.uploads set abandoned_blob_id = null
      where org_id = ${orgId} and upload_id = ${uploadId} and abandoned_blob_id = ${blobId}`);
  }
}

function noSuchOrganization(): ServiceError {
  return new ServiceError('not_found', 'There is no such organization.');
}

/** Tokens are random: an existing one was sent for another upload. */
function tokenIsTaken(): ServiceError {
  return new ServiceError('invalid_request', 'The token of a link is used once.', {
    findings: [{ path: '/token_sha256', code: 'token_used', message: 'It belongs to another upload.' }],
  });
}
