// Sends a recording by the protocol tus 1.0, which continues from where an earlier try has ended.
import { type Api, got } from '../../api/client.ts';
import { failureOf, unreachable } from '../../api/failure.ts';

const PIECE_BYTES = 1024 * 1024;

export interface RecordingUpload {
  /** Of the creation: the same file sent again makes one method. */
  readonly key: string;
  link: { readonly id: string; readonly url: string; readonly token: string } | null;
}

/** Returns the id of the method that comes of it. Rejects where it stopped; a call with the same `upload` continues. */
export async function sendRecording(
  api: Api,
  file: File,
  upload: RecordingUpload,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): Promise<string> {
  const link = upload.link ?? (await createdLink(api, file, upload));
  let offset = await offsetOf(link, signal);
  onSent(offset);
  while (offset < file.size) {
    const piece = file.slice(offset, offset + PIECE_BYTES);
    const response = await request(link, signal, {
      method: 'PATCH',
      headers: { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) },
      body: piece,
    });
    offset = Number(response.headers.get('upload-offset') ?? offset + piece.size);
    onSent(offset);
  }
  const { method } = await got(api.GET('/api/workflow-uploads/{id}', { params: { path: { id: link.id } }, signal }));
  if (method === null)
    throw new Error('The recording is complete, and no method came of it yet. Continue to look again.');
  return method.id;
}

async function createdLink(api: Api, file: File, upload: RecordingUpload) {
  const { upload: made } = await got(
    api.POST('/api/workflow-uploads', {
      body: {
        idempotency_key: upload.key,
        file_name: file.name.slice(0, 255) || 'recording',
        content_type: file.type || 'application/json',
        size: file.size,
      },
    }),
  );
  // The address may name another host than the page's: only its path is used.
  const { pathname } = new URL(made.upload_url, window.location.origin);
  upload.link = { id: made.id, url: pathname, token: made.token };
  return upload.link;
}

async function offsetOf(link: NonNullable<RecordingUpload['link']>, signal: AbortSignal): Promise<number> {
  const response = await request(link, signal, { method: 'HEAD', headers: {} });
  return Number(response.headers.get('upload-offset') ?? 0);
}

async function request(
  { url, token }: NonNullable<RecordingUpload['link']>,
  signal: AbortSignal,
  { headers, ...init }: { readonly method: string; readonly headers: Record<string, string>; readonly body?: Blob },
): Promise<Response> {
  const authorization = `WorkflowUpload ${token}`;
  const response = await fetch(url, {
    ...init,
    headers: { ...headers, authorization, 'tus-resumable': '1.0.0' },
    signal,
    credentials: 'omit',
  }).catch((error: unknown) => {
    throw error instanceof TypeError ? unreachable() : error;
  });
  if (!response.ok) throw await failureOf(response);
  return response;
}
