// `methods login`: signs a person in to a server and keeps the sign-in.
import { join } from 'node:path';
import { chooseServer } from '../chosen-server/choose-server.ts';
import { SERVER_OPTIONS } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import { EXIT } from '../errors/exit-code.ts';
import { withFileLock } from '../files/file-lock.ts';
import { ServerApi } from '../server/server-api.ts';
import { type CallerFacts, callerWords, readServerFacts, type ServerFacts } from '../server/server-facts.ts';
import { deviceSignIn, hasDeviceFlow } from '../sign-in/device-sign-in.ts';
import { discoverIssuer, issuerNames } from '../sign-in/issuer-client.ts';
import { rememberSignIn } from '../sign-in/last-sign-in.ts';
import { loopbackSignIn } from '../sign-in/loopback-sign-in.ts';
import { type SignIn, SignInStore } from '../sign-in/sign-in-store.ts';

export const loginCommand: Command = {
  name: 'login',
  usage: '[--device] [--server URL] [--audience AUDIENCE]',
  summary: 'Sign in to a server with a browser',
  details: [
    'The browser of this machine is opened; with --device, or without a display, a code is shown that is entered in any',
    "browser. The sign-in is kept in the system's keyring, or without one in a file that only you can read,",
    'as with METHODS_TOKEN_STORE=file.',
    '',
    'A server that asks for tokens for an address other than its own is refused: with such a token it could act as you',
    'elsewhere. Where its operator chose such an audience, name it with --audience.',
  ],
  options: {
    ...SERVER_OPTIONS,
    device: { help: 'show a code to enter in the browser of another machine' },
    audience: { value: 'AUDIENCE', help: 'the audience of tokens, if it is not an address of the server itself' },
  },
  operands: { min: 0, max: 0, word: 'argument' },
  examples: ['methods login --server https://methods.example.com', 'methods login --device'],

  async run(line, context) {
    const { config, output } = context;
    const { baseUrl } = await chooseServer(line, config);
    const facts = await readServerFacts(baseUrl, context.interrupted);
    const names = issuerNames(baseUrl, facts, line.text('audience'));
    const issuer = await discoverIssuer(names);
    const byDevice = line.flag('device') || (!config.display && hasDeviceFlow(issuer));
    const signIn = await (byDevice ? deviceSignIn : loopbackSignIn)(baseUrl, names, issuer, context);
    // A token that the server does not accept is not stored: the fault is reported here, and not by every later
    // command.
    const caller = await callerOf(signIn, facts, context);
    const store = new SignInStore(config);
    const lockFile = store.lockFile(signIn.issuer, baseUrl);
    const place = await withFileLock(lockFile, context.interrupted, () => store.write(signIn));
    await rememberSignIn(config.stateDir, signIn);
    output.document({ server: baseUrl, issuer: signIn.issuer, kept_in: place, ...caller });
    output.result(`Signed in to ${baseUrl}: ${callerWords(caller)}`);
    const file = `a file under ${join(config.stateDir, 'methods')} that only you can read`;
    output.line(`Kept in ${place === 'keyring' ? "the system's keyring" : file}.`);
    return EXIT.done;
  },
};

function callerOf(signIn: SignIn, facts: ServerFacts, { interrupted }: CommandContext): Promise<CallerFacts> {
  const fresh = { kind: 'sign-in', bearer: async () => signIn.accessToken, renew: async () => false } as const;
  const credentials = { forRuns: fresh, forPeople: fresh };
  return new ServerApi({ baseUrl: signIn.server, facts, credentials, interrupted }).get<CallerFacts>('/api/whoami');
}
