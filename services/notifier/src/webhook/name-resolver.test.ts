// Names, resolved by real name servers on loopback.
import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Clock, systemClock } from '@methods/base/clock';
import { type NameAnswers, nameServer } from '../../test/name-server.fixture.ts';
import { LocalNames } from './local-names.ts';
import { NameResolver } from './name-resolver.ts';
import { NameServers } from './name-servers.ts';

interface Turned extends Clock {
  turn(ms: number): void;
}

function turnedClock(): Turned {
  let aheadMs = 0;
  return {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    turn: (ms) => {
      aheadMs += ms;
    },
  };
}

function resolverAt(servers: readonly string[], clock: Clock = systemClock, local: LocalNames | null = null) {
  const asking = new NameServers({ servers, clock });
  return new NameResolver({ ask: (name) => asking.ask(name), clock, local });
}

const to =
  (addresses: readonly string[], ttlS = 30): NameAnswers =>
  () => ({ addresses, ttlS });

const code = (error: unknown) => (error as { code: string }).code;

test('all addresses of a name are returned, and one query serves many tries during its time to live', async () => {
  await using server = await nameServer(to(['93.184.216.34', '10.0.0.1']));
  const clock = turnedClock();
  const { resolve } = resolverAt([server.address], clock);
  const all = await Promise.all(Array.from({ length: 20 }, () => resolve('hook.example')));
  for (const each of all) {
    assert.deepEqual(each, [
      { address: '93.184.216.34', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]);
  }
  assert.deepEqual([...server.questions].sort(), ['A hook.example', 'AAAA hook.example']);
  clock.turn(29_000);
  await resolve('hook.example');
  assert.equal(server.questions.length, 2);
  clock.turn(2_000);
  await resolve('hook.example');
  assert.equal(server.questions.length, 4);
});

test('a time to live is limited to between a second and a minute, and a failure is kept for two seconds', async () => {
  const ttl = new Map([
    ['none.example', 0],
    ['week.example', 604_800],
  ]);
  await using server = await nameServer((name) => ({
    addresses: ttl.has(name) ? ['93.184.216.34'] : [],
    ttlS: ttl.get(name) ?? 0,
  }));
  const clock = turnedClock();
  const { resolve } = resolverAt([server.address], clock);
  const asked = async (name: string) => {
    const before = server.questions.length;
    await resolve(name).catch(() => {});
    return server.questions.length > before;
  };
  for (const [name, keptMs] of [
    ['none.example', 1_000],
    ['week.example', 60_000],
    ['missing.example', 2_000],
  ] as const) {
    assert.ok(await asked(name), name);
    clock.turn(keptMs - 900);
    assert.ok(!(await asked(name)), name);
    clock.turn(1_000);
    assert.ok(await asked(name), name);
  }
  assert.equal(await resolve('missing.example').catch(code), 'ENOTFOUND');
});

test('sixty names whose name server is silent end in time and delay neither another name nor a thread', async () => {
  await using server = await nameServer((name) =>
    name === 'hook.example' ? { addresses: ['93.184.216.34'], ttlS: 30 } : null,
  );
  const { resolve } = resolverAt([server.address]);
  // As many queries as a socket of this machine buffers while its process is busy.
  let ended = 0;
  const silent = Array.from({ length: 60 }, (_, i) =>
    resolve(`silent${i}.example`)
      .catch(code)
      .finally(() => ended++),
  );
  assert.equal((await resolve('hook.example')).length, 1);
  await lookup('localhost');
  assert.equal(ended, 0, 'the others were waited for meanwhile');
  const started = performance.now();
  assert.deepEqual(new Set(await Promise.all(silent)), new Set(['ETIMEOUT']));
  assert.ok(performance.now() - started < 60_000);
});

test('a second name server answers if the first is silent', async () => {
  await using silent = await nameServer(() => null);
  await using server = await nameServer(to(['93.184.216.34']));
  const { resolve } = resolverAt([silent.address, server.address]);
  assert.equal((await resolve('hook.example')).length, 1);
});

test('localhost is this machine and is not sent to a name server', async () => {
  await using server = await nameServer(to(['93.184.216.34']));
  for (const local of [null, new LocalNames({ clock: systemClock, hostsFile: '/nowhere' })]) {
    const { resolve } = resolverAt([server.address], systemClock, local);
    for (const name of ['localhost', 'hooks.localhost']) {
      assert.equal((await resolve(name))[0]?.address, '127.0.0.1', name);
    }
  }
  assert.deepEqual(server.questions, []);
});

test('names of the hosts file and short names of the search list resolve only on a private machine', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'names-'));
  try {
    await using server = await nameServer((name) => ({
      addresses: name === 'receiver.shop.internal' || name === 'box' ? ['10.1.2.3'] : [],
      ttlS: 30,
    }));
    const [hostsFile, resolverFile] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
    await writeFile(hostsFile, '# ours\n10.9.8.7 Hook.internal hook # the hook\n::1 six\nnonsense x\n10.9.8.6 hook\n');
    await writeFile(resolverFile, 'nameserver 10.0.0.1\nsearch shop.internal other.internal\noptions ndots:2\n');
    const local = new LocalNames({ clock: systemClock, hostsFile, resolverFile });
    const { resolve } = resolverAt([server.address], systemClock, local);
    const addresses = async (name: string) => (await resolve(name)).map(({ address }) => address);
    assert.deepEqual(await addresses('hook.internal'), ['10.9.8.7']);
    assert.deepEqual(await addresses('hook'), ['10.9.8.7', '10.9.8.6']);
    assert.deepEqual(await addresses('six'), ['::1']);
    assert.deepEqual(server.questions, []);
    assert.deepEqual(await addresses('receiver'), ['10.1.2.3']);
    assert.deepEqual(await addresses('box'), ['10.1.2.3'], 'the name itself comes after the search list');
    const everywhere = resolverAt([server.address]).resolve;
    assert.equal(await everywhere('hook.internal').catch(code), 'ENOTFOUND');
    assert.equal(await everywhere('receiver').catch(code), 'ENOTFOUND');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('at most two thousand names are kept', async () => {
  let asked = 0;
  const ask = async () => {
    asked++;
    return { addresses: [{ address: '93.184.216.34', family: 4 as const }], ttlMs: 60_000 };
  };
  const { resolve } = new NameResolver({ ask, clock: systemClock, local: null });
  for (let i = 0; i <= 2_000; i++) await resolve(`name${i}.example`);
  await resolve('name2000.example');
  assert.equal(asked, 2_001);
  await resolve('name0.example');
  assert.equal(asked, 2_002);
});
