import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ended, printed } from '@methods/cli/cli.fixture';
import {
  type RunningProvider,
  runningProvider,
  signIn,
} from '@methods/local-stack/identity/testing/running-provider.fixture';
import { until } from '../harness/until.ts';
import { type CliGateway, commonRegistryGateway } from './cli-gateway.ts';
import { Desk } from './desk.ts';

const NEEDED = ['dbus-daemon', 'dbus-send', 'gnome-keyring-daemon', 'secret-tool'];
const missing = NEEDED.filter((command) => spawnSync(command, ['--version']).error !== undefined);

describe("a sign-in and the system's keyring", () => {
  let provider: RunningProvider;
  let gateway: CliGateway;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'methods-keyring-'));
    provider = await runningProvider();
    gateway = await commonRegistryGateway({ issuer: provider.issuer });
  });
  after(async () => {
    await gateway?.stop();
    await provider?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const skip = missing.length > 0 && `there is no ${missing.join(', ')} here`;
  test('is kept in it, read from it, and gone from it after the sign-out', { skip }, async () => {
    const session = await desktopSession(folder);
    const desk = await Desk.make({ bus: session.bus });
    try {
      const login = await desk.signIn(gateway.url, (address) => signIn(address));
      assert.equal(login.code, 0, login.stderr);
      assert.match(login.stdout, /^Kept in the system's keyring\.$/m);
      assert.deepEqual(desk.kept(), [], 'no file beside it');
      const { accessToken, refreshToken } = JSON.parse(session.secret());
      const whoami = await desk.run(['whoami']);
      assert.match(whoami.stdout, /^ada\.lovelace@example\.com .*\n.*\n.*\nby +your sign-in\n$/);
      const logout = await desk.run(['logout']);
      assert.deepEqual([logout.code, logout.stderr], [0, '']);
      assert.equal(session.secret(), '');
      desk.assertNeverSaid([accessToken, refreshToken]);
    } finally {
      await desk.remove();
      await session.end();
    }
  });

  test('is kept in a file where the session has a bus that never answers', async () => {
    const sockets: Socket[] = [];
    const path = join(folder, 'silent');
    const bus = createServer((socket) => sockets.push(socket)).listen(path);
    const desk = await Desk.make({ bus: `unix:path=${path}` });
    try {
      const login = await desk.signIn(gateway.url, (address) => signIn(address));
      assert.equal(login.code, 0, login.stderr);
      assert.match(login.stdout, /^Kept in a file /m);
      assert.equal(desk.kept()[0]?.mode, 0o600);
      assert.ok(sockets.length > 0, 'the bus was asked');
    } finally {
      for (const socket of sockets) socket.destroy();
      bus.close();
      await desk.remove();
    }
  });
});

interface Session {
  /** Its address. */
  readonly bus: string;
  /** The one secret of the command in the keyring; empty: none. */
  secret(): string;
  end(): Promise<void>;
}

/** A bus with an unlocked, empty keyring, as a desktop has them. */
async function desktopSession(folder: string): Promise<Session> {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_RUNTIME_DIR: folder };
  const path = join(folder, 'bus');
  const daemon = spawn('dbus-daemon', ['--session', '--nofork', '--print-address', `--address=unix:path=${path}`], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await printed(daemon, 'unix:path=');
  const inside = { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}` };
  const options = ['--foreground', '--unlock', '--components=secrets'];
  const keyring = spawn('gnome-keyring-daemon', options, { env: inside, stdio: ['pipe', 'ignore', 'ignore'] });
  keyring.stdin.end('password');
  // A look at the keyring itself would start another one.
  const asked = ['--print-reply', '--dest=org.freedesktop.DBus', '/', 'org.freedesktop.DBus.NameHasOwner'];
  await until('the keyring is there', () => {
    assert.equal(keyring.exitCode, null);
    const { stdout } = spawnSync('dbus-send', [...asked, 'string:org.freedesktop.secrets'], { env: inside });
    return stdout.includes('boolean true') || undefined;
  });
  return {
    bus: `unix:path=${path}`,
    secret: () => spawnSync('secret-tool', ['lookup', 'service', 'methods'], { env: inside, encoding: 'utf8' }).stdout,
    end: async () => {
      await ended(killed(keyring));
      await ended(killed(daemon));
    },
  };
}

function killed(child: ChildProcess): ChildProcess {
  child.kill();
  return child;
}
