// Requests that no HTTP client would send: bytes on a socket, and what came back until the server closed it.
import { connect } from 'node:net';

export interface RawReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const WITHIN_MS = 180_000;

/** The request has to make the server close the connection. */
export function rawRequest(baseUrl: string, lines: readonly string[], body = ''): Promise<RawReply> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`));
    const chunks: Buffer[] = [];
    socket.setTimeout(WITHIN_MS, () => socket.destroy(new Error('the server did not close the connection')));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(parsed(Buffer.concat(chunks).toString('utf8'))));
  });
}

function parsed(text: string): RawReply {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = text.slice(0, end).split('\r\n');
  const headers = fields.map((field): [string, string] => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  return { status: Number(statusLine.split(' ')[1]), headers: new Map(headers), body: text.slice(end + 4) };
}
