// One build: a recording's bytes in, a draft that can be saved or the sentence why there is none out.
import { BlobError, type BlobStore } from '@methods/blobs/blob-store';
import { ServiceError } from '@methods/errors/service-error';
import { type MethodSource, readMethodSource } from '../method/method-source.ts';
import type { ClaimedBuild } from '../store/build-store.ts';
import type { UploadStore } from '../store/upload-store.ts';
import type { Upload } from '../upload/upload.ts';
import { buildError, DRAFT_TOO_LARGE, PART_MISSING } from './build-error.ts';
import type { RecordingCompiler } from './recording-compiler.ts';

export interface BuildParts {
  readonly uploads: UploadStore;
  readonly blobs: BlobStore;
  readonly compiler: RecordingCompiler;
}

export type Built =
  | { readonly kind: 'draft'; readonly draft: MethodSource; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: string };

/** @throws BlobError or ServiceError unavailable: to be tried again. Aborted: the signal's reason. */
export async function buildRecording(build: ClaimedBuild, parts: BuildParts, signal: AbortSignal): Promise<Built> {
  const upload = await parts.uploads.find(build.orgId, build.uploadId);
  const bytes = await recordingBytes(upload, parts);
  if (bytes === null) return { kind: 'failed', error: PART_MISSING };
  const compiled = await parts.compiler.compile({ bytes, name: upload.displayName }, signal);
  if (compiled.kind !== 'drafted') return { kind: 'failed', error: buildError(compiled) };
  try {
    // A draft calls no other method.
    const draft = readMethodSource(Buffer.from(compiled.source), { callees: new Map(), pins: {} });
    return { kind: 'draft', draft, reason: `Draft of the recording ${upload.fileName}` };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isTooLarge = error.code === 'too_large';
    return {
      kind: 'failed',
      error: isTooLarge ? DRAFT_TOO_LARGE : buildError({ kind: 'refused', code: 'draft_invalid' }),
    };
  }
}

/** Null where a part is gone: no try will find it. */
async function recordingBytes(upload: Upload, { uploads, blobs }: BuildParts): Promise<Uint8Array | null> {
  const { orgId, uploadId, blobId, sizeBytes } = upload;
  const bytes = new Uint8Array(sizeBytes);
  let filled = 0;
  try {
    for await (const part of blobs.read({ orgId, blobId }, await uploads.partNames(orgId, uploadId))) {
      if (filled + part.length > sizeBytes) return null;
      bytes.set(part, filled);
      filled += part.length;
    }
  } catch (error) {
    if (error instanceof BlobError && error.code === 'missing') return null;
    throw error;
  }
  return filled === sizeBytes ? bytes : null;
}
