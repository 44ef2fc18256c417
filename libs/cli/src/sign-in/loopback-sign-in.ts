// Signs a person in with the browser of this machine: the code flow with PKCE (S256), back to a loopback address.
import { spawn } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Configuration } from 'openid-client';
import type { CommandContext } from '../command/command.ts';
import { CommandError } from '../errors/command-error.ts';
import { type IssuerNames, issuerFault, resourceParameter, SCOPE, signInOf } from './issuer-client.ts';
import type { SignIn } from './sign-in-store.ts';

/** @throws CommandError `sign_in_refused`, `sign_in_timeout` and those of `issuerFault`. */
export async function loopbackSignIn(
  server: string,
  names: IssuerNames,
  configuration: Configuration,
  { output, config, interrupted }: CommandContext,
): Promise<SignIn> {
  const client = await import('openid-client');
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const [state, nonce] = [client.randomState(), client.randomNonce()];
  const listener = await listenOnLoopback();
  try {
    const parameters = {
      redirect_uri: listener.redirectUri,
      scope: SCOPE,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      // Without prompting its user an issuer issues no refresh token (OpenID Connect Core, 11).
      prompt: 'consent',
      state,
      nonce,
      ...resourceParameter(names.resource),
    };
    const address = authorizationAddress(client, configuration, parameters, names.issuer);
    output.instruction(`Sign in with your browser at\n\n  ${address.href}\n`);
    const back = listener.untilBack(state, interrupted);
    if (config.display) openBrowser(address.href, config.variables);
    const { url, show } = await back;
    try {
      const reply = await client.authorizationCodeGrant(
        configuration,
        url,
        { pkceCodeVerifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
        resourceParameter(names.resource),
      );
      const signIn = signInOf(reply, { server, ...names });
      show(true);
      return signIn;
    } catch (error) {
      show(false);
      throw issuerFault(names.issuer, error);
    }
  } finally {
    listener.close();
  }
}

/** The library accepts only web addresses, so that nothing opens a program of this machine. */
function authorizationAddress(
  client: typeof import('openid-client'),
  configuration: Configuration,
  parameters: Record<string, string>,
  issuer: string,
): URL {
  try {
    return client.buildAuthorizationUrl(configuration, parameters);
  } catch (error) {
    throw issuerFault(issuer, error);
  }
}

/** The address is also printed, so a browser that does not open is no error. */
function openBrowser(url: string, env: ReadonlyMap<string, string>): void {
  const [command, ...args] = browserCommand(url);
  const child = spawn(command, args, { stdio: 'ignore', detached: true, env: Object.fromEntries(env) });
  child.on('error', () => {});
  child.unref();
}

function browserCommand(url: string): [string, ...string[]] {
  switch (process.platform) {
    case 'darwin':
      return ['open', url];
    case 'win32':
      // The shell's `start` would interpret the ampersands of the address.
      return ['rundll32', 'url.dll,FileProtocolHandler', url];
    default:
      return ['xdg-open', url];
  }
}

const PATH = '/callback';
const WAIT_MS = 600_000;

/** Waits on a loopback address for the browser that returns from the issuer (RFC 8252, 7.3). */
interface LoopbackListener {
  /** `http://127.0.0.1:<port>/callback`. */
  readonly redirectUri: string;
  /**
   * Returns the address with this `state` to which the browser came back; others are rejected. Settle `shown` to show
   * the person the outcome. @throws CommandError `sign_in_timeout` after 10 minutes; the signal's reason.
   */
  untilBack(state: string, signal: AbortSignal): Promise<CameBack>;
  close(): void;
}

interface CameBack {
  readonly url: URL;
  readonly show: (signedIn: boolean) => void;
}

async function listenOnLoopback(): Promise<LoopbackListener> {
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
