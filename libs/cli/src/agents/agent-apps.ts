// The programs whose agents use MCP servers: the file in which each looks for them, and its format of an entry.
import { join } from 'node:path';

export const AGENT_APPS = ['claude-code', 'claude-desktop', 'codex', 'cursor', 'gemini', 'vscode'] as const;
export type AgentApp = (typeof AGENT_APPS)[number];

/** How the agent reaches the server: at its address, signing in by itself, or by the bridge as a separate process. */
export type Way =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'bridge'; readonly command: string; readonly args: readonly string[] };

export interface AgentFile {
  readonly title: string;
  readonly path: string;
  /** `jsonc` is used even if an app takes only JSON: people's comments are kept. */
  readonly format: 'jsonc' | 'toml';
  /** The key under which the app looks for servers. */
  readonly serversKey: string;
  /** False: its file has only programs, so an address needs the bridge. */
  readonly takesUrl: boolean;
  /** The field of an entry that has the address. */
  readonly urlField: 'url' | 'httpUrl';
  /** Each entry says how its server is reached. */
  readonly namesTransport: boolean;
  /** Returns the app's own command that does the same; null: it has none. */
  readonly ownCommand: ((name: string, url: string) => string) | null;
  /** What a person must do afterwards: the program signs in by itself, or the bridge has its own sign-in. */
  readonly next: { readonly url: string; readonly bridge: string };
}

export interface AgentPlaces {
  /** The project: its folder is where the command is run. */
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly variables: ReadonlyMap<string, string>;
}

export function agentFile(app: AgentApp, places: AgentPlaces): AgentFile {
  const { cwd, home } = places;
  const entry = { takesUrl: true, urlField: 'url', namesTransport: false, ownCommand: null } as const;
  const json = { ...entry, format: 'jsonc', serversKey: 'mcpServers' } as const;
  switch (app) {
    case 'claude-code':
      return {
        ...json,
        title: 'Claude Code, for this project',
        path: join(cwd, '.mcp.json'),
        namesTransport: true,
        ownCommand: (name, url) => `claude mcp add --transport http ${name} ${url}`,
        next: {
          url: 'start  claude  here, allow the server, and sign in with  /mcp',
          bridge: 'start  claude  here, and allow the server',
        },
      };
    case 'claude-desktop':
      return {
        ...json,
        title: 'Claude Desktop',
        path: join(claudeDesktopFolder(places), 'claude_desktop_config.json'),
        takesUrl: false,
        next: { url: '', bridge: 'start Claude Desktop again' },
      };
    case 'cursor':
      return {
        ...json,
        title: 'Cursor, for this project',
        path: join(cwd, '.cursor', 'mcp.json'),
        next: {
          url: "allow the server in Cursor's settings, and sign in there",
          bridge: "allow the server in Cursor's settings",
        },
      };
    case 'vscode':
      return {
        ...json,
        title: 'VS Code, for this project',
        path: join(cwd, '.vscode', 'mcp.json'),
        serversKey: 'servers',
        namesTransport: true,
        next: {
          url: 'start the server from the file in VS Code, and sign in',
          bridge: 'start the server from the file in VS Code',
        },
      };
    case 'gemini':
      return {
        ...json,
        title: 'Gemini CLI',
        path: join(home, '.gemini', 'settings.json'),
        urlField: 'httpUrl',
        next: { url: 'start  gemini,  and sign in with  /mcp auth', bridge: 'start  gemini' },
      };
    case 'codex':
      return {
        ...entry,
        title: 'Codex',
        path: join(places.variables.get('CODEX_HOME') || join(home, '.codex'), 'config.toml'),
        format: 'toml',
        serversKey: 'mcp_servers',
        ownCommand: (name, url) => `codex mcp add ${name} --url ${url}`,
        next: { url: 'sign in with  codex mcp login', bridge: 'start  codex  again' },
      };
  }
}

export function entryOf(file: AgentFile, way: Way): Readonly<Record<string, unknown>> {
  const transport = way.kind === 'url' ? 'http' : 'stdio';
  return {
    ...(file.namesTransport && { type: transport }),
    ...(way.kind === 'url' ? { [file.urlField]: way.url } : { command: way.command, args: way.args }),
  };
}

function claudeDesktopFolder({ home, platform, variables }: AgentPlaces): string {
  switch (platform) {
    case 'darwin':
      return join(home, 'Library', 'Application Support', 'Claude');
    case 'win32':
      return join(variables.get('APPDATA') || join(home, 'AppData', 'Roaming'), 'Claude');
    default:
      return join(variables.get('XDG_CONFIG_HOME') || join(home, '.config'), 'Claude');
  }
}
