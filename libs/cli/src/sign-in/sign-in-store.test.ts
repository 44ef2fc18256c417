import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { withFileLock } from '../files/file-lock.ts';
import { forgetSignIns, issuersOf, lastSignIn, rememberIssuer, rememberSignIn } from './last-sign-in.ts';
import { type SignIn, SignInStore } from './sign-in-store.ts';

const [ISSUER, SERVER] = ['https://login.example', 'https://methods.example'];
const SIGN_IN: SignIn = {
  server: SERVER,
  issuer: ISSUER,
  clientId: 'methods-cli',
  resource: null,
  accessToken: 'a1',
  refreshToken: 'r1',
  expiresAtMs: 1,
};

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'methods-sign-in-'));
});
afterEach(() => rmSync(stateDir, { recursive: true }));

/** A keyring with room for this many characters. */
function keyringOf(entries: Map<string, string>, room = Number.POSITIVE_INFINITY) {
  return (account: string) => ({
    read: async () => entries.get(account) ?? null,
    write: async (text: string) => text.length <= room && entries.set(account, text) !== undefined,
    remove: async () => {
      entries.delete(account);
    },
  });
}

const folder = () => join(stateDir, 'methods', 'sign-ins');
const files = () => (existsSync(folder()) ? readdirSync(folder()) : []);

test('without a keyring a sign-in is a file that only its owner can read, one for each issuer and server', async () => {
  const store = new SignInStore({ stateDir, keyring: false });
  assert.equal(await store.write(SIGN_IN), 'file');
  assert.equal(await store.write({ ...SIGN_IN, server: 'https://other.example' }), 'file');
  assert.equal(files().length, 2);
  assert.equal(statSync(folder()).mode & 0o777, 0o700);
  for (const name of files()) assert.equal(statSync(join(folder(), name)).mode & 0o777, 0o600);
  assert.deepEqual(await store.read(ISSUER, SERVER), SIGN_IN);
  assert.equal(await store.read('https://another.example', SERVER), null);
  await store.remove(ISSUER, SERVER);
  assert.equal(await store.read(ISSUER, SERVER), null);
  assert.equal(files().length, 1);
});

test('a damaged file is not a sign-in', async () => {
  const store = new SignInStore({ stateDir, keyring: false });
  await store.write(SIGN_IN);
  for (const text of ['', '{', '[]', 'null', '{"server":1}']) {
    writeFileSync(join(folder(), files()[0] ?? ''), text);
    assert.equal(await store.read(ISSUER, SERVER), null);
  }
});

test('a keyring is used first, and no older sign-in stays in the other place', async () => {
  const entries = new Map<string, string>();
  const store = new SignInStore({ stateDir, keyring: true }, 'commands', keyringOf(entries));
  await new SignInStore({ stateDir, keyring: false }).write({ ...SIGN_IN, accessToken: 'older' });
  assert.equal(await store.write(SIGN_IN), 'keyring');
  assert.deepEqual([entries.size, files()], [1, []]);
  const narrow = new SignInStore({ stateDir, keyring: true }, 'commands', keyringOf(entries, 10));
  assert.equal(await narrow.write({ ...SIGN_IN, accessToken: 'newer' }), 'file');
  assert.equal((await store.read(ISSUER, SERVER))?.accessToken, 'newer');
  await store.remove(ISSUER, SERVER);
  assert.equal(await store.read(ISSUER, SERVER), null);
});

test('a place that cannot be written is reported in a sentence without a token', async () => {
  writeFileSync(join(stateDir, 'methods'), 'a file in the way');
  const store = new SignInStore({ stateDir, keyring: false });
  await assert.rejects(store.write(SIGN_IN), (error: Error) => {
    assert.match(error.message, /^the sign-in cannot be kept under /);
    return !error.message.includes('a1') && !error.message.includes('r1');
  });
});

test('after signing out of the last server, no other one replaces it', async () => {
  const other = { server: 'https://other.example', issuer: ISSUER };
  await rememberSignIn(stateDir, other);
  await rememberSignIn(stateDir, { server: SERVER, issuer: ISSUER });
  assert.equal((await lastSignIn(stateDir))?.server, SERVER);
  await forgetSignIns(stateDir, SERVER);
  assert.equal(await lastSignIn(stateDir), null);
  assert.deepEqual([await issuersOf(stateDir, SERVER), await issuersOf(stateDir, other.server)], [[], [ISSUER]]);
});

test('of several sign-ins at once none is lost, and each can be signed out of', async () => {
  const servers = Array.from({ length: 8 }, (_, i) => `https://server-${i}.example`);
  const remember = (server: string, i: number) =>
    (i % 2 === 0 ? rememberSignIn : rememberIssuer)(stateDir, { server, issuer: ISSUER });
  await Promise.all([...servers.map(remember), forgetSignIns(stateDir, SERVER)]);
  assert.deepEqual(
    await Promise.all(servers.map((server) => issuersOf(stateDir, server))),
    servers.map(() => [ISSUER]),
  );
});

test('a wait for a lock can be interrupted, and a failure releases the lock', async () => {
  const path = join(stateDir, 'lock');
  const interrupt = new AbortController();
  const never = new AbortController().signal;
  const failed = withFileLock(path, never, async () => {
    const waiting = withFileLock(path, interrupt.signal, async () => assert.fail('it is held'));
    interrupt.abort(new Error('interrupted'));
    await assert.rejects(waiting, /interrupted/);
    throw new Error('the work failed');
  });
  await assert.rejects(failed, /the work failed/);
  assert.equal(await withFileLock(path, never, async () => 'free'), 'free');
});

test('the sign-in for agents is stored beside the one for commands, and is removed separately', async () => {
  const commands = new SignInStore({ stateDir, keyring: false });
  const agents = new SignInStore({ stateDir, keyring: false }, 'agents');
  const server = 'https://two-purposes.example.com';
  const { issuer } = SIGN_IN;
  await commands.write({ ...SIGN_IN, server, accessToken: 'for commands' });
  await agents.write({ ...SIGN_IN, server, accessToken: 'for agents' });
  assert.equal((await commands.read(issuer, server))?.accessToken, 'for commands');
  assert.equal((await agents.read(issuer, server))?.accessToken, 'for agents');
  await agents.remove(issuer, server);
  assert.equal(await agents.read(issuer, server), null);
  assert.equal((await commands.read(issuer, server))?.accessToken, 'for commands');
  const accounts: string[] = [];
  const keyring = (account: string) => {
    accounts.push(account);
    return keyringOf(new Map())(account);
  };
  for (const purpose of ['commands', 'agents'] as const) {
    await new SignInStore({ stateDir, keyring: true }, purpose, keyring).read(issuer, server);
  }
  assert.equal(new Set(accounts).size, 2);
});
