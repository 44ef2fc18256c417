// The files that callers sent, for the gateway's own tests: kept in memory, by the rules of a run-scheduler node.
import { createHash } from 'node:crypto';
import { type FileId, newId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type {
  DeleteFileRequest,
  FindFilesRequest,
  NewFile,
  PutFileRequest,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';

interface SentFile {
  readonly file: NewFile;
  readonly content: Buffer;
  readonly reply: {
    fileId: FileId;
    name: string;
    mediaType: string;
    bytes: number;
    sha256: string;
    expiresAtMs: number;
  };
}

export class FileBook {
  readonly files = new Map<string, SentFile>();
  /** Uploads that ended early. */
  broken = 0;
  /** Chunks as received. */
  chunks = 0;

  async put(requests: AsyncIterable<PutFileRequest>) {
    const parts: Uint8Array[] = [];
    let file: NewFile | undefined;
    let whole = false;
    try {
      for await (const request of requests) {
        file ??= request.file;
        parts.push(request.chunk);
        this.chunks++;
        whole ||= request.last;
      }
      if (!whole) throw new ServiceError('invalid_request');
    } catch (error) {
      this.broken++;
      throw error;
    }
    if (file === undefined) throw new ServiceError('invalid_request');
    const content = Buffer.concat(parts);
    if (content.length > file.bytesMax) throw new ServiceError('too_large');
    const key = Buffer.from(file.idempotencyHash).toString('hex');
    for (const sent of key === '' ? [] : this.files.values()) {
      const same = sent.file.owner === file.owner && Buffer.from(sent.file.idempotencyHash).toString('hex') === key;
      if (same) return { file: sent.reply, replayed: true };
    }
    const reply = {
      fileId: newId('file'),
      name: file.name,
      mediaType: file.mediaType,
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      expiresAtMs: Date.now() + 86_400_000,
    };
    this.files.set(reply.fileId, { file, content, reply });
    return { file: reply, replayed: false };
  }

  find({ orgId, owner, fileIds }: FindFilesRequest) {
    return fileIds.flatMap((id) => {
      const sent = this.files.get(id);
      return sent?.file.orgId === orgId && sent.file.owner === owner ? [sent.reply] : [];
    });
  }

  delete({ orgId, owner, fileId }: DeleteFileRequest): object {
    const [found] = this.find({ orgId, owner, fileIds: [fileId] } as FindFilesRequest);
    if (found === undefined) throw new ServiceError('not_found');
    this.files.delete(fileId);
    return {};
  }
}
