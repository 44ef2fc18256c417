import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { tempFolder } from '@methods/test/harness/temp-folder';
import {
  MACHINE,
  MCP,
  type RunningProvider,
  runningProvider,
  verified,
} from '../identity/testing/running-provider.fixture.ts';
import { writeReadyLine } from '../ready-file.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

describe('npm run token', () => {
  const state = tempFolder('token');
  const holders: ChildProcess[] = [];
  let running: RunningProvider;

  before(async () => {
    running = await runningProvider();
    process.env.XDG_STATE_HOME = state;
  });
  after(async () => {
    for (const holder of holders) holder.kill('SIGKILL');
    rmSync(state, { recursive: true });
    await running.stop();
  });

  function token(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    return new Promise((resolve) => {
      const env = { PATH: process.env.PATH ?? '', XDG_STATE_HOME: state };
      const script = [...nodeArguments(new URL('./main.ts', import.meta.url)), ...args];
      execFile(process.execPath, script, { cwd: ROOT, env }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      );
    });
  }

  /** A data folder as a running stack leaves it: its lock names a process that runs a stack's main file. */
  function stack(name: string, memory: object): string {
    const dataDir = join(state, name);
    mkdirSync(join(dataDir, 'identity-provider'), { recursive: true });
    const holder = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)', 'deploy/local/src/main.ts']);
    holders.push(holder);
    writeFileSync(join(dataDir, 'stack.lock'), String(holder.pid));
    writeFileSync(join(dataDir, 'identity-provider', 'issuer.json'), JSON.stringify(memory));
    writeReadyLine({ data_dir: dataDir });
    return dataDir;
  }

  test('reports that no stack runs, even if one was killed', async () => {
    writeReadyLine({ data_dir: join(state, 'killed') });
    assert.deepEqual(await token(), {
      code: 1,
      out: '',
      err: 'No local stack is running: start one with npm start.\n',
    });
    const named = await token('--data-dir', join(state, 'nowhere'));
    assert.equal(named.err, `No stack is running with the data folder ${join(state, 'nowhere')}.\n`);
  });

  test('prints a token that verifies like any other', async () => {
    const { issuer, config } = running;
    const dataDir = stack('one', { issuer, port: config.port, former: [] });
    assert.match((await token()).err, /is still starting/);
    const secret = readFileSync(join(config.folder, 'token-secret'), 'utf8');
    writeFileSync(join(dataDir, 'identity-provider', 'token-secret'), secret);

    const plain = await token();
    assert.equal(plain.err, '');
    const claims = await verified(issuer, plain.out.trim(), MACHINE);
    assert.deepEqual([claims.org_id, claims.org_name, claims.email], ['local', 'Local', 'developer@example.com']);
    assert.equal('role' in claims, false);

    const chosen = await token(
      ...['--org', 'Acme', '--user', 'bob@acme.test', '--audience', 'mcp', '--role', 'viewer'],
      ...['--data-dir', dataDir],
    );
    const { iat = 0, exp = 0, jti, sub, ...rest } = await verified(issuer, chosen.out.trim(), MCP);
    assert.equal(exp - iat, 900);
    assert.ok(jti && sub);
    assert.deepEqual(rest, {
      iss: issuer,
      aud: MCP,
      client_id: 'methods-cli',
      scope: 'openid profile email',
      org_id: 'acme',
      org_name: 'Acme',
      role: 'viewer',
      email: 'bob@acme.test',
      email_verified: true,
      name: 'Bob',
    });

    assert.deepEqual(await token('--role', 'owner'), {
      code: 1,
      out: '',
      err: 'A role is one of viewer, member, admin.\n',
    });
    assert.match((await token('--audience', 'web')).err, /^--audience is machine or mcp\.\n\nUsage/);
    assert.equal((await token('--organisation', 'x')).code, 2);
  });

  test('names the stacks where several run, and the issuer where it is another', async () => {
    const outside = stack('two', { issuer: 'https://login.example', port: null, former: [] });
    const { err, code } = await token();
    assert.equal(code, 1);
    assert.match(err, /^Several stacks are running; choose by --data-dir: /);
    assert.ok(err.includes(outside));
    assert.match((await token('--data-dir', outside)).err, /sign in at https:\/\/login\.example/);
  });

  test('is refused without the secret of the data folder', async () => {
    const body = JSON.stringify({ organization: 'Local', email: 'a@b.c', role: 'admin', audience: 'machine' });
    for (const authorization of ['', 'Bearer wrong', 'Basic Og==']) {
      const response = await fetch(`${running.issuer}/development/token`, {
        method: 'POST',
        headers: { authorization },
        body,
      });
      assert.equal(response.status, 401);
      assert.equal('access_token' in ((await response.json()) as object), false);
    }
  });
});
