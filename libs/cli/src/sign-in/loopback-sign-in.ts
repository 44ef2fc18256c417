// Signs a person in with the browser of this machine: the code flow with PKCE (S256), back to a loopback address.

import { spawn } from 'node:child_process';
import type { Configuration } from 'openid-client';
import type { CommandContext } from '../command/command.ts';
import { type IssuerNames, resourceParameter, SCOPE, signInOf } from './issuer-client.ts';
import { issuerFault } from './issuer-fault.ts';
import { listenOnLoopback } from './loopback-listener.ts';
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
      // Without asking its user an issuer gives no refresh token (OpenID Connect Core, 11).
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

/** The library takes only addresses of the web: what is opened here must not be a program of this machine. */
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

/** The address is printed too, so a browser that does not open is no error. */
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
      // `start` of the shell would read the ampersands of the address.
      return ['rundll32', 'url.dll,FileProtocolHandler', url];
    default:
      return ['xdg-open', url];
  }
}
