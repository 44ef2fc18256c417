// `methods mcp`: the configuration of agents' programs, the sign-in for agents, and the bridge.
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type ChosenServer, chooseServer } from '../chosen-server/choose-server.ts';
import { developmentUser } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import type { Config } from '../config.ts';
import { CommandError, EXIT, type ExitCode, UsageError } from '../errors/command-error.ts';
import { withFileLock } from '../files/file-lock.ts';
import { MCP_WORDS } from '../help-words.ts';
import type { Credential } from '../server/credential.ts';
import { readServerFacts, type ServerFacts } from '../server/server-facts.ts';
import { deviceSignIn, hasDeviceFlow } from '../sign-in/device-sign-in.ts';
import { discoverIssuer, issuerNames, serverAudience } from '../sign-in/issuer-client.ts';
import { rememberIssuer } from '../sign-in/last-sign-in.ts';
import { loopbackSignIn } from '../sign-in/loopback-sign-in.ts';
import { signInCredential } from '../sign-in/sign-in-credential.ts';
import { SignInStore } from '../sign-in/sign-in-store.ts';
import { AGENT_APPS, type AgentApp, agentFile, type Way } from './agent-apps.ts';

/** Accepted by every program, and needs no quotes in any file. */
const NAME = /^[A-Za-z0-9_-]{1,40}$/;
/** The words that take each option; all take --server. */
const OWN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  ...{ write: AGENT_APPS, bridge: AGENT_APPS, name: AGENT_APPS },
  ...{ device: ['login'], audience: ['login', 'bridge'] },
};

export const mcpCommand: Command = {
  ...MCP_WORDS,

  async run(line, context) {
    const [word = ''] = line.operands;
    const app = AGENT_APPS.find((each) => each === word);
    if (app === undefined && word !== 'login' && word !== 'bridge') {
      throw new UsageError(`mcp does not know "${word}"`, `it knows ${MCP_WORDS.operands.word}`);
    }
    for (const [name, owners] of Object.entries(OWN_OPTIONS)) {
      const isGiven = line.flag(name) || line.text(name) !== undefined;
      if (isGiven && !owners.includes(word)) throw new UsageError(`mcp ${word} has no option --${name}`);
    }
    if (app !== undefined) return configure(app, line, context);
    return word === 'login' ? signIn(line, context) : bridge(line, context);
  },
};

async function configure(app: AgentApp, line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { output, cwd, config } = context;
  const name = line.text('name') ?? 'methods';
  if (!NAME.test(name)) throw new UsageError('a name has 1 to 40 letters, digits, "-" and "_"');
  const { baseUrl, stack } = await chooseServer(line, config);
  const url = mcpAddress(baseUrl, await readServerFacts(baseUrl, context.interrupted), undefined);
  const home = config.variables.get('HOME') ?? config.variables.get('USERPROFILE') ?? homedir();
  const file = agentFile(app, { cwd, home, platform: process.platform, variables: config.variables });
  const way: Way = line.flag('bridge') || !file.takesUrl ? bridgeWay(baseUrl) : { kind: 'url', url };
  const { agentLines, writeAgentFile } = await import('./write-agent-file.ts');
  const written = line.flag('write') ? await writeAgentFile(file, name, way) : 'printed';
  const lines = agentLines(file, name, way);
  const ownCommand = way.kind === 'url' ? (file.ownCommand?.(name, url) ?? null) : null;
  output.document({ client: app, name, url, file: file.path, written, lines, command: ownCommand });
  if (written === 'printed') {
    output.line(`${file.title}: ${file.path}\n`);
    output.result(lines);
    if (ownCommand !== null) output.line(`\nor  ${ownCommand}`);
    output.line(
      `\nWrite it with  methods mcp ${app} --write${way.kind === 'bridge' && file.takesUrl ? ' --bridge' : ''}`,
    );
    return EXIT.done;
  }
  output.result(`${{ created: 'Wrote', changed: 'Changed', unchanged: 'Nothing to change in' }[written]} ${file.path}`);
  if (way.kind === 'bridge' && stack === null) {
    output.line(`The bridge needs a sign-in of its own:  methods mcp login --server ${baseUrl}`);
  }
  output.line(`Now ${file.next[way.kind]}.`);
  return EXIT.done;
}

/** By absolute paths, since a program started from a desktop has another PATH. */
function bridgeWay(baseUrl: string): Way {
  const [, script = 'methods'] = process.argv;
  return { kind: 'bridge', command: process.execPath, args: [resolve(script), 'mcp', 'bridge', '--server', baseUrl] };
}

async function signIn(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { config, output, interrupted } = context;
  const { baseUrl } = await chooseServer(line, config);
  const facts = await readServerFacts(baseUrl, interrupted);
  const audience = line.text('audience');
  const resource = mcpAddress(baseUrl, facts, audience);
  const names = issuerNames(baseUrl, { ...facts, machineAudience: resource }, audience);
  const issuer = await discoverIssuer(names);
  const byDevice = line.flag('device') || (!config.display && hasDeviceFlow(issuer));
  const signedIn = await (byDevice ? deviceSignIn : loopbackSignIn)(baseUrl, names, issuer, context);
  const store = new SignInStore(config, 'agents');
  const lockFile = store.lockFile(signedIn.issuer, baseUrl);
  const place = await withFileLock(lockFile, interrupted, () => store.write(signedIn));
  await rememberIssuer(config.stateDir, signedIn);
  output.document({ server: baseUrl, issuer: signedIn.issuer, audience: resource, kept_in: place });
  output.result(`Signed in for agents: ${resource}`);
  return EXIT.done;
}

/** Standard output belongs to the protocol. */
async function bridge(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { config, interrupted, output } = context;
  const find = async () => {
    const server = await chooseServer(line, config);
    const facts = await readServerFacts(server.baseUrl, interrupted);
    const url = mcpAddress(server.baseUrl, facts, line.text('audience'));
    return { url, credential: agentCredential(server, facts, config) };
  };
  const [{ McpBridge }, { AgentServers }] = await Promise.all([import('./mcp-bridge.ts'), import('./agent-server.ts')]);
  const { stdin, stdout } = output.streams;
  const servers = new AgentServers({ find, interrupted });
  await new McpBridge({ servers, input: stdin, output: stdout, interrupted }).run();
  return EXIT.done;
}

// The credential with which the bridge calls the MCP server: a separate sign-in, or a local stack's developer.

/** The address of the MCP server, which is also its tokens' audience. @throws CommandError `no_mcp`, `foreign_audience`. */
function mcpAddress(server: string, { mcpUrl }: ServerFacts, named: string | undefined): string {
  if (mcpUrl === null) throw new CommandError('no_mcp', `${server} has no MCP server`);
  return serverAudience(server, mcpUrl, named);
}

/** A person may sign in while the bridge runs: without a sign-in, each request looks for one. */
function agentCredential({ baseUrl, stack }: ChosenServer, { issuer }: ServerFacts, config: Config): Credential {
  let found: Credential | null = null;
  const credential = async () => {
    found ??=
      (await signInCredential(baseUrl, issuer, config, 'agents')) ??
      (stack === null ? null : await developmentUser(stack, 'mcp'));
    if (found !== null) return found;
    throw new CommandError('not_signed_in', 'not signed in for agents', {
      hint: `methods mcp login --server ${baseUrl}`,
    });
  };
  return {
    kind: 'sign-in',
    async bearer(signal) {
      try {
        return await (await credential()).bearer(signal);
      } catch (error) {
        if (error instanceof CommandError && error.code === 'sign_in_over') found = null;
        throw error;
      }
    },
    renew: async (signal, refused) => (await credential()).renew(signal, refused),
  };
}
