// Waits on a loopback address for the browser that comes back from the issuer (RFC 8252, 7.3).
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandError } from '../errors/command-error.ts';

const PATH = '/callback';
const WAIT_MS = 600_000;

export interface LoopbackListener {
  /** `http://127.0.0.1:<port>/callback`. */
  readonly redirectUri: string;
  /**
   * The address the browser came back to with this `state`; others are sent away. Settle `shown` to show its person how
   * it ended. @throws CommandError `sign_in_timeout` after 10 minutes; the signal's reason.
   */
  untilBack(state: string, signal: AbortSignal): Promise<CameBack>;
  close(): void;
}

export interface CameBack {
  readonly url: URL;
  readonly show: (signedIn: boolean) => void;
}

export async function listenOnLoopback(): Promise<LoopbackListener> {
  let expected: { readonly state: string; readonly back: (came: CameBack) => void } | null = null;
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const url = new URL(request.url ?? '/', redirectUri);
    const wanted =
      request.method === 'GET' && url.pathname === PATH && url.searchParams.get('state') === expected?.state;
    if (!wanted || expected === null) return page(response, 404, 'Nothing is here', 'Go back to the terminal.');
    const { back } = expected;
    expected = null;
    back({ url, show: (signedIn) => showEnd(response, signedIn) });
  });
  server.maxConnections = 20;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
  return {
    redirectUri,
    untilBack: (state, signal) =>
      new Promise<CameBack>((resolve, reject) => {
        const timer = setTimeout(() => {
          const hint = 'start again; where no browser can reach this machine, use --device';
          reject(new CommandError('sign_in_timeout', 'there was no sign-in within 10 minutes', { hint }));
        }, WAIT_MS);
        const stop = () => {
          clearTimeout(timer);
          reject(signal.reason);
        };
        signal.addEventListener('abort', stop, { once: true });
        const back = (came: CameBack) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', stop);
          resolve(came);
        };
        expected = { state, back };
        if (signal.aborted) stop();
      }),
    close: () => {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function showEnd(response: ServerResponse, signedIn: boolean): void {
  if (signedIn) page(response, 200, 'You are signed in', 'Go back to the terminal; this window may be closed.');
  else page(response, 400, 'You are not signed in', 'The terminal says why; this window may be closed.');
}

function page(response: ServerResponse, status: number, title: string, text: string): void {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(html);
}
