// One build: a recording's bytes in, a draft that can be saved, or the sentence why there is none, out.
import { BlobError, type BlobStore } from '@methods/blobs/blob-store';
import { type MethodSource, methodSource } from '../method/method-source.ts';
import type { ClaimedBuild } from '../store/build-store.ts';
import type { UploadStore } from '../store/upload-store.ts';
import type { Upload } from '../upload/upload.ts';
import { buildError } from './build-error.ts';
import type { Compiled, RecordingCompiler } from './recording-compiler.ts';

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
  const compiled = await compile(upload, parts, signal);
  if (compiled.kind !== 'drafted') return { kind: 'failed', error: buildError(compiled) };
  const draft = methodSource(Buffer.from(compiled.source), compiled.verdict);
  return { kind: 'draft', draft, reason: `Draft of the recording ${upload.fileName}` };
}

async function compile(upload: Upload, { uploads, blobs, compiler }: BuildParts, signal: AbortSignal) {
  const { orgId, uploadId, blobId, sizeBytes, displayName } = upload;
  const parts = blobs.read({ orgId, blobId }, await uploads.partNames(orgId, uploadId));
  try {
    return await compiler.compile({ parts, sizeBytes, name: displayName }, signal);
  } catch (error) {
    // No try will find it.
    if (error instanceof BlobError && error.code === 'missing') return { kind: 'incomplete' } satisfies Compiled;
    throw error;
  }
}
