import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { CommandError } from '../errors/command-error.ts';
import { AGENT_APPS, type AgentApp, agentFile, type Way } from './agent-apps.ts';
import { agentLines, writeAgentFile } from './write-agent-file.ts';

const URL = 'https://methods.example.com/mcp';
const BY_URL: Way = { kind: 'url', url: URL };
const BY_BRIDGE: Way = { kind: 'bridge', command: '/usr/bin/node', args: ['methods.mjs', 'mcp', 'bridge'] };

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-files-'));
});
after(() => rm(folder, { recursive: true, force: true }));

let made = 0;
function fileOf(app: AgentApp, platform: NodeJS.Platform = 'linux') {
  const own = join(folder, String(made++));
  return agentFile(app, { cwd: join(own, 'project'), home: join(own, 'home'), platform, variables: new Map() });
}

async function given(app: AgentApp, text: string) {
  const file = fileOf(app);
  await mkdir(dirname(file.path), { recursive: true });
  await writeFile(file.path, text);
  return file;
}

const read = (path: string) => readFile(path, 'utf8');

test('a new file has only this server, in the format its program reads', async () => {
  const entries: Record<AgentApp, unknown> = {
    'claude-code': { mcpServers: { methods: { type: 'http', url: URL } } },
    'claude-desktop': { mcpServers: { methods: { command: '/usr/bin/node', args: ['methods.mjs', 'mcp', 'bridge'] } } },
    codex: `[mcp_servers.methods]\nurl = "${URL}"\n`,
    cursor: { mcpServers: { methods: { url: URL } } },
    gemini: { mcpServers: { methods: { httpUrl: URL } } },
    vscode: { servers: { methods: { type: 'http', url: URL } } },
  };
  for (const app of AGENT_APPS) {
    const file = fileOf(app);
    const way: Way = file.takesUrl ? BY_URL : BY_BRIDGE;
    assert.equal(await writeAgentFile(file, 'methods', way), 'created');
    const text = await read(file.path);
    assert.deepEqual(file.format === 'toml' ? text : JSON.parse(text), entries[app], app);
    assert.deepEqual(
      file.format === 'toml' ? text : JSON.parse(text),
      file.format === 'toml'
        ? await agentLines(file, 'methods', way)
        : JSON.parse(await agentLines(file, 'methods', way)),
    );
    assert.equal(await writeAgentFile(file, 'methods', way), 'unchanged');
    assert.equal(await read(file.path), text);
  }
});

test('other entries, comments and the layout of a JSON file are kept', async () => {
  const text = `{
    // Of the team.
    "theme": "dark",
    "servers": {
        "other": { "command": "other" }, // keep
        "methods": { "type": "http", "url": "https://old.example.com/mcp" },
    },
    /* last */ "inputs": []
}
`;
  const file = await given('vscode', text);
  assert.equal(await writeAgentFile(file, 'methods', BY_URL), 'changed');
  const changed = await read(file.path);
  for (const part of ['// Of the team.', '"other": { "command": "other" }, // keep', '/* last */ "inputs": []', URL])
    assert.ok(changed.includes(part), changed);
  assert.ok(!changed.includes('old.example.com'));
  const tabs = await given('cursor', '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n');
  await writeAgentFile(tabs, 'methods', BY_URL);
  assert.equal(
    await read(tabs.path),
    `{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t\t"methods": {\r\n\t\t\t"url": "${URL}"\r\n\t\t}\r\n\t}\r\n}\r\n`,
  );
});

test('other tables and comments of a TOML file are kept, even around an earlier table', async () => {
  const text = `# Mine.
model = "large"

[mcp_servers.other]
command = "other"

[mcp_servers.methods] # ours
url = "https://old.example.com/mcp"

# About the profile.
[profiles.fast]
model = "small"
`;
  const file = await given('codex', text);
  assert.equal(await writeAgentFile(file, 'methods', BY_URL), 'changed');
  assert.equal(await read(file.path), text.replace(' # ours\nurl = "https://old.example.com/mcp"', `\nurl = "${URL}"`));
  const without = await given('codex', 'model = "large"');
  await writeAgentFile(without, 'methods', BY_BRIDGE);
  assert.equal(
    await read(without.path),
    'model = "large"\n\n[mcp_servers.methods]\ncommand = "/usr/bin/node"\nargs = [ "methods.mjs", "mcp", "bridge" ]\n',
  );
});

test('a file that its program could not read is refused, and not changed', async () => {
  for (const [app, text, reason] of [
    ['vscode', '{ "servers": {', /line 1 is not JSON/],
    ['cursor', '{\n "a": 1\n "b": 2 }', /line 3 is not JSON/],
    ['cursor', '[]', /not one object/],
    ['cursor', 'null', /not one object/],
    ['claude-code', '{"mcpServers": []}', /"mcpServers" in it is not an object/],
    ['codex', 'model = ', /line 1 is not TOML/],
    ['codex', 'mcp_servers = 1', /not a table/],
    ['codex', 'mcp_servers = { methods = { url = "x" } }', /written in another way/],
    ['codex', '[mcp_servers]\nmethods.url = "x"\n', /written in another way/],
    ['gemini', 'x'.repeat(4 * 1024 * 1024 + 1), /over 4 MiB/],
  ] as const) {
    const file = await given(app, text);
    await assert.rejects(writeAgentFile(file, 'methods', BY_URL), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, reason);
      assert.ok(error.message.includes(file.path));
      return true;
    });
    assert.equal(await read(file.path), text);
  }
});

test('a link to a file stays a link, and a file that cannot be written is named', async () => {
  const file = fileOf('cursor');
  const target = join(folder, 'shared.json');
  await writeFile(target, '{}');
  await mkdir(dirname(file.path), { recursive: true });
  await symlink(target, file.path);
  await writeAgentFile(file, 'methods', BY_URL);
  assert.deepEqual(JSON.parse(await read(target)), { mcpServers: { methods: { url: URL } } });
  const blocked = fileOf('cursor');
  await mkdir(blocked.path, { recursive: true });
  await assert.rejects(writeAgentFile(blocked, 'methods', BY_URL), { code: 'not_written' });
});

test('the file of Claude Desktop is where each system keeps it', () => {
  const at = (platform: NodeJS.Platform) => fileOf('claude-desktop', platform).path;
  assert.match(at('darwin'), /home\/Library\/Application Support\/Claude\/claude_desktop_config\.json$/);
  assert.match(at('linux'), /home\/\.config\/Claude\/claude_desktop_config\.json$/);
});
