// Reads bodies and sends pages, for the few routes that are not the protocol's.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { formPolicy } from './pages/page.ts';

const BODY_BYTES_MAX = 16 * 1024;

/** The fault of a request; the status and the sentence are the answer. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** @throws RequestFault over 16 KiB. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new RequestFault(413, `A body has ${BODY_BYTES_MAX} bytes at most.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? ''))
    throw new RequestFault(415, 'A form is sent as application/x-www-form-urlencoded.');
  return new URLSearchParams(await readBody(request));
}

/** `targets`: where the page's form may lead besides the provider itself. */
export function sendPage(
  response: ServerResponse,
  status: number,
  text: string,
  targets: readonly string[] = [],
): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': formPolicy(targets),
    'cache-control': 'no-store',
  });
  response.end(text);
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  response.end(JSON.stringify(value));
}
