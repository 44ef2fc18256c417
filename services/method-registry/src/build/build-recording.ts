// Runs one build: takes a recording's bytes, and returns a draft that can be saved, or a sentence why there is none.
import { BlobError, type BlobStore } from '@methods/blobs/blob-store';
import type { RecordingFinding } from '@methods/method/recording/compile-recording';
import { type MethodSource, methodSource } from '../method/method-source.ts';
import type { ClaimedBuild } from '../store/build-store.ts';
import type { UploadStore } from '../store/upload-store.ts';
import type { Upload } from '../upload/upload.ts';
import type { Compiled, RecordingCompiler } from './recording-compiler.ts';

export interface BuildParts {
  readonly uploads: UploadStore;
  readonly blobs: BlobStore;
  readonly compiler: RecordingCompiler;
}

export type Built =
  | { readonly kind: 'draft'; readonly draft: MethodSource; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: string };

/** @throws BlobError or ServiceError unavailable: the build can be tried again. Aborted: the signal's reason. */
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
    // Another try would not find it either.
    if (error instanceof BlobError && error.code === 'missing') return { kind: 'incomplete' } satisfies Compiled;
    throw error;
  }
}

// Explains why a recording produced no draft, as a sentence for people. No sentence repeats recorded content.

const REFUSED: Partial<Record<RecordingFinding['code'], string>> = {
  too_large: 'The recording is too large to compile: record fewer pages, or leave out images.',
  not_json: 'The file is not JSON: upload the recording as the browser saved it, not packed.',
  unknown_recording: 'The file is neither HAR nor a Chrome Recorder file.',
  too_many_entries: 'The recording has too many requests or steps: at most 20,000 can be compiled.',
  nothing_recorded: 'Nothing in the recording is left that a step could do.',
};

/** The reasons of a compilation without a draft. */
function buildError(compiled: Exclude<Compiled, { kind: 'drafted' }>): string {
  switch (compiled.kind) {
    case 'refused':
      return REFUSED[compiled.code] ?? 'No valid draft could be made of the recording.';
    case 'draft_too_large':
      return 'The draft of the recording would be larger than 256 KiB: record fewer pages.';
    case 'incomplete':
      return 'The recording is incomplete: upload it again.';
    case 'too_much_memory':
      return 'Compiling the recording takes too much memory: record fewer pages.';
    case 'too_long':
      return 'Compiling the recording takes too long: record fewer pages.';
    case 'broke_down':
      return 'The recording could not be compiled.';
  }
}

export const NO_RESULT = 'The recording could not be compiled: several tries ended without a result.';
