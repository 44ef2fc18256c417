// Agents and a local stack: their programs' configuration, offered methods, and the bridge to the real MCP server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { access, chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ended, METHODS } from '@methods/cli/cli.fixture';
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parse } from 'smol-toml';
import { commandsOf } from '../docs/console-blocks.ts';
import { fencedBlocks } from '../docs/fenced-blocks.ts';
import type { Stack } from '../e2e/stack.ts';
import { documents } from '../tidy/source-files.ts';
import { commonStack } from './common-stack.ts';
import { type StackDesk, stackDesk } from './stack-desk.ts';

let stack: Stack;
let desk: StackDesk;
const methods = (...args: string[]) => desk.folder.quick(args, desk.env);

before(async () => {
  stack = await commonStack();
  desk = await stackDesk(stack);
});
after(() => desk?.folder.remove());

const CLIENT = { name: 'story', version: '1.0' };

/** What a client gets that writes these messages and ends its input. */
async function bridged(messages: readonly object[]) {
  const child = spawn(process.execPath, [METHODS, 'mcp', 'bridge'], {
    cwd: desk.folder.dir,
    env: { HOME: desk.folder.dir, ...desk.env },
  });
  child.stdin.end(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  const { code, stdout, stderr } = await ended(child);
  assert.equal(code, 0, stderr);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test('a program’s file gets the server, and the rest of it stays', async () => {
  const printed = await methods('mcp', 'claude-code');
  assert.equal(printed.code, 0, printed.stderr);
  assert.ok(printed.stdout.includes(`claude mcp add --transport http methods ${stack.ready.base_url}/mcp`));
  await assert.rejects(access(join(desk.folder.dir, '.mcp.json')), 'it was only printed');
  await mkdir(join(desk.folder.dir, '.vscode'));
  await desk.folder.write('.vscode/mcp.json', '{\n  // Ours.\n  "servers": { "other": { "command": "other" } }\n}\n');
  assert.match((await methods('mcp', 'vscode', '--write')).stdout, /^Changed .*mcp\.json\nNow start/);
  const text = await desk.folder.read('.vscode/mcp.json');
  assert.match(text, /\n {2}\/\/ Ours\.\n[\s\S]*"other": \{\s*"command": "other"\s*\}/);
  assert.ok(text.includes(`"url": "${stack.ready.base_url}/mcp"`), text);
  const { document } = await desk.folder.quickJson<{ written: string; file: string }>(
    ['mcp', 'claude-desktop', '--write', '--name', 'local'],
    desk.env,
  );
  assert.equal(document.written, 'created');
  const desktop = JSON.parse(await desk.folder.read('.config/Claude/claude_desktop_config.json'));
  assert.deepEqual(desktop.mcpServers.local.args.slice(-4), ['mcp', 'bridge', '--server', stack.ready.base_url]);
  const elsewhere = { ...desk.env, XDG_STATE_HOME: join(desk.folder.dir, 'no-stack') };
  const stranger = ['mcp', 'gemini', '--write', '--bridge', '--server', stack.ready.base_url];
  const { stdout } = await desk.folder.quick(stranger, elsewhere);
  assert.ok(stdout.includes(`methods mcp login --server ${stack.ready.base_url}\nNow start`), stdout);
  await desk.folder.write('.mcp.json', '{ "mcpServers": ');
  const refused = await methods('mcp', 'claude-code', '--write');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /\.mcp\.json was not changed: line 1 is not JSON\nhint: mend it/);
  assert.equal(await desk.folder.read('.mcp.json'), '{ "mcpServers": ');
});

/** The file of each program, the key of its servers, and what an entry has beside the address or the command. */
const PROGRAMS: Readonly<Record<string, { file: string; key: string; http: object | null; stdio?: object }>> = {
  'claude-code': { file: '.mcp.json', key: 'mcpServers', http: { type: 'http' }, stdio: { type: 'stdio' } },
  'claude-desktop': { file: '.config/Claude/claude_desktop_config.json', key: 'mcpServers', http: null },
  codex: { file: '.codex/config.toml', key: 'mcp_servers', http: {} },
  cursor: { file: '.cursor/mcp.json', key: 'mcpServers', http: {} },
  gemini: { file: '.gemini/settings.json', key: 'mcpServers', http: {} },
  vscode: { file: '.vscode/mcp.json', key: 'servers', http: { type: 'http' }, stdio: { type: 'stdio' } },
};

interface ServerEntry {
  readonly url?: string;
  readonly httpUrl?: string;
  readonly command?: string;
  readonly args?: readonly string[];
}

test('what is written for each program is what its documentation asks for, and leads to the tools', async () => {
  const reader = await stackDesk(stack);
  const { dir } = reader.folder;
  const env = { HOME: dir, ...reader.env };
  const written = async (program: string, ...options: string[]): Promise<ServerEntry> => {
    const { file, key } = PROGRAMS[program] ?? assert.fail(program);
    // The bridge's command is that of the process that writes it.
    const run = options.includes('--bridge') ? 'methods' : 'quick';
    const { code, stdout, stderr } = await reader.folder[run](['mcp', program, '--write', ...options], reader.env);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Now \S.*\.$/m, program);
    assert.equal(/sign.in/.test(stdout), !options.includes('--bridge'), `${program}: only it signs in by itself`);
    const text = await reader.folder.read(file);
    const { [key]: servers, ...rest } = file.endsWith('.toml') ? parse(text) : JSON.parse(text);
    assert.deepEqual([Object.keys(servers), rest], [['methods'], {}], program);
    return servers.methods;
  };
  try {
    const addresses = new Set<string>();
    const commands = new Set<string>();
    for (const [program, { http, stdio = {} }] of Object.entries(PROGRAMS)) {
      const { command = '', args = [], ...others } = await written(program, '--bridge');
      assert.deepEqual(others, stdio, program);
      commands.add(JSON.stringify({ command, args }));
      if (http === null) continue;
      const { [program === 'gemini' ? 'httpUrl' : 'url']: address = '', ...more } = await written(program);
      assert.deepEqual(more, http, program);
      addresses.add(address);
    }
    assert.deepEqual([...addresses], [stack.ready.mcp_url]);
    assert.equal(commands.size, 1, [...commands].join('\n'));
    const command = JSON.parse([...commands][0] ?? '');
    const who = { email: 'dev@example.com', organization: 'Local', role: 'member', audience: 'mcp' } as const;
    const authorization = `Bearer ${await fetchToken(chooseStack(stack.ready.data_dir), who)}`;
    for (const transport of [
      new StdioClientTransport({ ...command, env, cwd: '/' }),
      new StreamableHTTPClientTransport(new URL(stack.ready.mcp_url), { requestInit: { headers: { authorization } } }),
    ]) {
      const client = new Client(CLIENT);
      await client.connect(transport as never);
      assert.equal(client.getServerVersion()?.version, '5.2');
      assert.ok((await client.listTools()).tools.some(({ name }) => name === 'start_run'));
      await client.close();
    }
  } finally {
    await reader.folder.remove();
  }
});

/** As the guide writes it: the folder, the server and ids by one name. */
function shown(text: string): string {
  return text
    .replaceAll(desk.folder.dir, '.')
    .replaceAll(stack.ready.base_url, 'http://127.0.0.1:4600')
    .replace(/\b(wf|ver)_\w{26}/g, '$1_…');
}

test('every command of the guide to agents prints what the guide says', async () => {
  const page = documents.find(({ path }) => path === 'docs/agents.md') ?? assert.fail('there is no such page');
  const reader = await stackDesk(stack);
  const { dir } = reader.folder;
  try {
    await mkdir(join(dir, '.bin'));
    await reader.folder.write('.bin/npx', `#!/bin/sh\nshift\nexec "${process.execPath}" "${METHODS}" "$@"\n`);
    await chmod(join(dir, '.bin', 'npx'), 0o755);
    const env = { HOME: dir, ...reader.env, PATH: `${join(dir, '.bin')}:${reader.env.PATH}` };
    let count = 0;
    for (const block of fencedBlocks(page)) {
      const [, file] = /^yaml (\S+)$/.exec(block.info) ?? [];
      if (file !== undefined) await reader.folder.write(file, block.text);
      for (const { command, told, at } of block.info === 'console' ? commandsOf(block) : []) {
        count++;
        const { stdout } = await ended(spawn('bash', ['-c', `{ ${command}\n} 2>&1`], { cwd: dir, env }));
        assert.equal(shown(stdout.replaceAll(dir, desk.folder.dir)), told, `${at}: ${command}`);
      }
    }
    assert.ok(count >= 7, `only ${count} commands were typed`);
  } finally {
    await reader.folder.remove();
  }
});

test('the bridge carries both eras of the protocol to the server', async () => {
  const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT };
  const earlier = await bridged([{ id: 1, method: 'initialize', params: begin }]);
  assert.equal(earlier[0].result.serverInfo.version, '5.2');
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const said = await bridged([
    { id: 1, method: 'tools/list', params: { _meta } },
    { id: 2, method: 'tools/call', params: { name: 'list_methods', arguments: {}, _meta } },
  ]);
  const of = (id: number) => said.find((each) => each.id === id)?.result;
  assert.ok(
    of(1).tools.some(({ name }: { name: string }) => name === 'get_method_language'),
    JSON.stringify(said),
  );
  assert.equal(of(2).isError ?? false, false);
  assert.ok(of(2).structuredContent.methods.length > 0);
});

test('an admin offers a method and takes the offer back', async () => {
  const id = stack.method('two-questions');
  const offered = await desk.folder.quickJson<{ offered_to_agents: boolean }>(['offer', id], desk.env);
  assert.deepEqual([offered.code, offered.document.offered_to_agents], [0, true], offered.stderr);
  const off = await methods('offer', id, '--off');
  assert.equal(off.code, 0, off.stderr);
  assert.match(off.stdout, /is no longer offered to agents\.$/m);
});

test('wrong usage says what is missing', async () => {
  for (const [args, message] of [
    [['emacs'], /mcp does not know "emacs"/],
    [['bridge', '--write'], /mcp bridge has no option --write/],
    [['cursor', '--device'], /mcp cursor has no option --device/],
    [['cursor', '--name', 'a b'], /a name has 1 to 40/],
  ] as const) {
    const { code, stderr } = await methods('mcp', ...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, message);
  }
});
