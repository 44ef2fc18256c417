// Sends a recording to a server, which creates a method from it: requests a link for these bytes, sends them (resumed
// after a broken connection, tus 1.0), and waits for the end of the build.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { withTimeLimit } from '@methods/base/time-limit';
import { CommandError } from '../errors/command-error.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { getMethod, type ServerMethod } from '../server/method-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { readJson } from '../server/server-request.ts';

export interface UploadedRecording {
  readonly method: ServerMethod;
  /** False: the same recording was sent before, and this is the method it created then. */
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

interface Recording {
  readonly file: string;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly name: string | undefined;
}

const UPLOADS = '/api/workflow-uploads';
const TUS = { 'tus-resumable': '1.0.0' };
const TRIES_MAX = 5;
const OFFSET_MS_MAX = 30_000;
/** A build notifies no one, and takes seconds. */
const LOOK_MS = 500;
const BUILD_MS_MAX = 300_000;

/** @throws CommandError `not_found`, `upload_broken`, `bad_reply`, `build_failed`, `build_late`, and those of ServerApi. */
export async function uploadRecording(
  api: ServerApi,
  file: string,
  name: string | undefined,
  signal: AbortSignal,
): Promise<UploadedRecording> {
  const recording = { file, name, ...(await look(file)) };
  const link = await askLink(api, recording);
  if (link.upload.state === 'waiting') await sendBytes(api, link, recording, signal);
  return { method: await built(api, link.upload.id, signal), created: link.created };
}

async function look(file: string): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of createReadStream(file)) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
    return { size, sha256: hash.digest('hex') };
  } catch (error) {
    throw new CommandError('not_found', `cannot read ${file}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
}

/** The key is derived from the bytes: a repeat continues the same upload with another token. */
async function askLink(api: ServerApi, { file, size, sha256, name }: Recording): Promise<Link> {
  const body = {
    idempotency_key: `recording-${sha256}`,
    file_name: basename(file),
    content_type: 'application/json',
    size,
    ...(name === undefined ? {} : { display_name: name }),
  };
  const { value } = await api.send<Link>('POST', UPLOADS, body, { idempotent: true });
  const { id, token, state } = Object(value?.upload);
  // Other characters are not allowed in a request header.
  const isWord = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
  if (typeof id === 'string' && typeof state === 'string' && isWord) return value;
  throw new CommandError('bad_reply', `the server at ${api.baseUrl} gives no link for the recording`);
}

/** A transient fault is retried; an expired link is requested again; any other refusal is reported at once. */
async function sendBytes(api: ServerApi, first: Link, recording: Recording, signal: AbortSignal): Promise<void> {
  let link = first;
  let cause: unknown = null;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (tries > 0) await pause(tries * 500, undefined, { signal });
    try {
      const refused = await sendRest(api, link.upload, recording, signal);
      if (refused === null) return;
      const { status } = refused;
      if (status === 401) link = await askLink(api, recording);
      else if (!isPassing(status)) throw new ServerRefusal(status, await readJson(refused).catch(() => null));
      cause = new Error(`the server answered ${status}`);
      await refused.body?.cancel();
    } catch (error) {
      if (signal.aborted || error instanceof CommandError) throw error;
      cause = error;
    }
  }
  throw new CommandError('upload_broken', 'the recording could not be sent completely', {
    cause,
    hint: 'the same command continues where it stopped',
  });
}

/** Returns null when the server has all of it; else the reply that says otherwise. */
async function sendRest(
  api: ServerApi,
  { id, token }: Link['upload'],
  { file, size }: Recording,
  signal: AbortSignal,
): Promise<Response | null> {
  const url = `${api.baseUrl}${UPLOADS}/${encodeURIComponent(id)}/content`;
  const headers = { ...TUS, authorization: `WorkflowUpload ${token}` };
  const soon = withTimeLimit(signal, OFFSET_MS_MAX);
  // The token and the recording are sent only to this server.
  const redirect = 'manual';
  const at = await fetch(url, { method: 'HEAD', headers, redirect, signal: soon });
  if (!at.ok) return at;
  const offset = offsetIn(at, size);
  if (offset === size) return null;
  const body = Readable.toWeb(createReadStream(file, { start: offset, end: size - 1 }));
  const patch = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
  const init = { method: 'PATCH', headers: { ...headers, ...patch }, body, duplex: 'half', redirect, signal };
  const reply = await fetch(url, init as unknown as RequestInit);
  return reply.ok && offsetIn(reply, size) === size ? null : reply;
}

function offsetIn({ headers }: Response, size: number): number {
  const text = headers.get('upload-offset') ?? '';
  if (/^\d{1,15}$/.test(text) && Number(text) <= size) return Number(text);
  throw new CommandError('bad_reply', 'the server does not say how much of the recording it has', {
    hint: 'is there a proxy in between?',
  });
}

/** A server that is busy or failing, and a piece that another connection sent meanwhile. */
function isPassing(status: number): boolean {
  return status < 300 || status >= 500 || status === 408 || status === 409 || status === 429;
}

async function built(api: ServerApi, id: string, signal: AbortSignal): Promise<ServerMethod> {
  const deadlineMs = performance.now() + BUILD_MS_MAX;
  for (;;) {
    const { upload, method } = await api.get<UploadState>(`${UPLOADS}/${id}`);
    if (method !== null && upload.state === 'ready') return getMethod(api, method.id);
    if (method !== null && upload.state === 'failed') {
      const { build, production_id: methodId } = await getMethod(api, method.id);
      throw new CommandError(
        'build_failed',
        (build?.error ?? 'no draft can be made from the recording').replace(/\.$/, ''),
        {
          hint: `the recording is kept as ${methodId}`,
        },
      );
    }
    if (performance.now() > deadlineMs) {
      throw new CommandError('build_late', 'the server has not built the draft yet', {
        hint: 'repeat the command later',
      });
    }
    await pause(LOOK_MS, undefined, { signal });
  }
}
