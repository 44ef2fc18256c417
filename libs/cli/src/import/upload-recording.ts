// A recording's way to a server, which makes a method of it: a link for these bytes, the bytes (resumed where the
// connection breaks, tus 1.0), and the end of the build.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../command/command-error.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { getMethod, type ServerMethod } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';

export interface UploadedRecording {
  readonly method: ServerMethod;
  /** False: the same recording was sent before, and this is the method it made then. */
  readonly created: boolean;
}

interface Link {
  readonly upload: { readonly id: string; readonly token: string; readonly state: string };
  readonly created: boolean;
}

interface UploadState {
  readonly upload: { readonly state: string };
  readonly method: { readonly id: string } | null;
}

const UPLOADS = '/api/workflow-uploads';
const TUS = { 'tus-resumable': '1.0.0' };
const TRIES_MAX = 5;
/** A build has no message for us; it takes seconds. */
const LOOK_MS = 500;
const BUILD_MS_MAX = 300_000;

/** @throws CommandError `not_found`, `upload_broken`, `build_failed`, `build_late`, and those of ServerApi. */
export async function uploadRecording(
  api: ServerApi,
  file: string,
  name: string | undefined,
  signal: AbortSignal,
): Promise<UploadedRecording> {
  const { size, sha256 } = await look(file);
  // The key follows from the bytes: a repeat after a lost reply goes on with the same upload.
  const { value } = await api.send<Link>(
    'POST',
    UPLOADS,
    {
      idempotency_key: `recording-${sha256}`,
      file_name: basename(file),
      content_type: 'application/json',
      size,
      ...(name === undefined ? {} : { display_name: name }),
    },
    { idempotent: true },
  );
  const { id, token, state } = value.upload;
  if (state === 'waiting') await sendBytes(`${api.baseUrl}${UPLOADS}/${id}/content`, token, { file, size, signal });
  return { method: await built(api, id, signal), created: value.created };
}

async function look(file: string): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  try {
    const { size } = await stat(file);
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    return { size, sha256: hash.digest('hex') };
  } catch (error) {
    throw new CommandError('not_found', `cannot read ${file}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
}

interface Bytes {
  readonly file: string;
  readonly size: number;
  readonly signal: AbortSignal;
}

async function sendBytes(url: string, token: string, { file, size, signal }: Bytes): Promise<void> {
  const headers = { ...TUS, authorization: `WorkflowUpload ${token}` };
  let cause: unknown = null;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (tries > 0) await pause(tries * 500, undefined, { signal });
    try {
      const at = await fetch(url, { method: 'HEAD', headers, signal });
      const offset = Number(at.headers.get('upload-offset') ?? Number.NaN);
      if (at.ok && offset === size) return;
      const body = Readable.toWeb(createReadStream(file, { start: offset }));
      const patch = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
      const init = { method: 'PATCH', headers: { ...headers, ...patch }, body, duplex: 'half', signal };
      const reply = await fetch(url, init as unknown as RequestInit);
      if (reply.ok && Number(reply.headers.get('upload-offset')) === size) return;
      cause = new Error(`the server answered ${reply.status}`);
    } catch (error) {
      if (signal.aborted) throw error;
      cause = error;
    }
  }
  throw new CommandError('upload_broken', 'the recording could not be sent whole', {
    cause,
    hint: 'the same command goes on where it stopped',
  });
}

async function built(api: ServerApi, id: string, signal: AbortSignal): Promise<ServerMethod> {
  const deadlineMs = performance.now() + BUILD_MS_MAX;
  for (;;) {
    const { upload, method } = await api.get<UploadState>(`${UPLOADS}/${id}`);
    if (method !== null && upload.state === 'ready') return getMethod(api, method.id);
    if (method !== null && upload.state === 'failed') {
      const { build, production_id: methodId } = await getMethod(api, method.id);
      throw new CommandError('build_failed', (build?.error ?? 'the recording gives no draft').replace(/\.$/, ''), {
        hint: `the recording is kept as ${methodId}`,
      });
    }
    if (performance.now() > deadlineMs) {
      throw new CommandError('build_late', 'the server has not built the draft yet', {
        hint: 'the same command later looks again',
      });
    }
    await pause(LOOK_MS, undefined, { signal });
  }
}
