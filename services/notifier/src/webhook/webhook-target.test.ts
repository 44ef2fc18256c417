import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostResolver } from './host-resolver.ts';
import { TryFailed } from './try-failed.ts';
import { resolveTarget } from './webhook-target.ts';

const strict = { policy: { allowPrivate: false, ports: [] }, hosts: [] };

/** Replaces a name server and counts the queries. */
function answering(...addresses: readonly string[]): HostResolver & { asked: string[] } {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    asked.push(hostname);
    return addresses.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) }));
  };
  return Object.assign(resolve, { asked });
}

const many = (count: number, last: string) => [...Array.from({ length: count }, (_, i) => `8.8.4.${i}`), last];

// The answers of a name server for hook.example, and whether the try continues.
const answers: readonly (readonly [string, readonly string[], boolean])[] = [
  ['a public address', ['8.8.8.8'], true],
  ['a public IPv6 address', ['2606:4700:4700::1111'], true],
  ['both kinds, public', ['8.8.8.8', '2606:4700:4700::1111'], true],
  ['thirty public addresses', many(29, '8.8.8.8'), true],
  ['loopback', ['127.0.0.1'], false],
  ['another loopback', ['127.9.9.9'], false],
  ['the unspecified address', ['0.0.0.0'], false],
  ['a private address', ['10.1.2.3'], false],
  ['a private address of 172.16', ['172.31.0.1'], false],
  ['a private address of 192.168', ['192.168.1.1'], false],
  ['a carrier address', ['100.64.0.1'], false],
  ['cloud metadata', ['169.254.169.254'], false],
  ['container metadata', ['169.254.170.2'], false],
  ['the wire server', ['168.63.129.16'], false],
  ['the other cloud metadata', ['100.100.100.200'], false],
  ['multicast', ['224.0.0.1'], false],
  ['broadcast', ['255.255.255.255'], false],
  ['IPv6 loopback', ['::1'], false],
  ['IPv6 metadata', ['fd00:ec2::254'], false],
  ['link-local with a zone', ['fe80::1%eth0'], false],
  ['a mapped loopback', ['::ffff:127.0.0.1'], false],
  ['a mapped public address', ['::ffff:8.8.8.8'], false],
  ['a compatible loopback', ['::7f00:1'], false],
  ['a NAT64 loopback', ['64:ff9b::7f00:1'], false],
  ['a local NAT64 address', ['64:ff9b:1::1'], false],
  ['a 6to4 loopback', ['2002:7f00:1::'], false],
  ['a Teredo address', ['2001:0:7f00:1::1'], false],
  ['good then bad', ['8.8.8.8', '127.0.0.1'], false],
  ['bad then good', ['127.0.0.1', '8.8.8.8'], false],
  ['good IPv4, bad IPv6', ['8.8.8.8', '::1'], false],
  ['bad IPv4, good IPv6', ['10.0.0.1', '2606:4700:4700::1111'], false],
  ['thirty addresses, the last one bad', many(29, '10.0.0.1'), false],
  ['no address at all', [], false],
  ['something that is no address', ['localhost'], false],
];

for (const [what, addresses, allowed] of answers) {
  test(`a name that resolves to ${what} is ${allowed ? 'tried' : 'refused'}`, async () => {
    const resolve = answering(...addresses);
    const target = resolveTarget('https://hook.example/x', strict, resolve);
    if (allowed) {
      const { addresses: tried } = await target;
      assert.deepEqual(
        tried.map(({ address }) => address),
        addresses.slice(0, 4),
      );
    } else {
      await assert.rejects(target, TryFailed);
    }
    assert.deepEqual(resolve.asked, ['hook.example'], 'the name is resolved exactly once');
  });
}

test('literal addresses are judged without a name server', async () => {
  const resolve = answering('8.8.8.8');
  for (const host of ['127.0.0.1', '0x7f.1', '[::1]', '169.254.169.254', '[::ffff:10.0.0.1]']) {
    await assert.rejects(resolveTarget(`https://${host}/`, strict, resolve), /^TryFailed: invalid_url/);
  }
  const target = await resolveTarget('https://8.8.8.8/', strict, resolve);
  assert.deepEqual(target.addresses, [{ address: '8.8.8.8', family: 4 }]);
  assert.deepEqual(resolve.asked, []);
});

test('a name server that fails is a failed try that names the code', async () => {
  const failing = async () => {
    throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
  };
  await assert.rejects(resolveTarget('https://hook.example/', strict, failing), /^TryFailed: dns_failed: ENOTFOUND$/);
});

test('private webhooks may resolve to private addresses', async () => {
  const target = await resolveTarget(
    'http://hook.internal:81/',
    { policy: { allowPrivate: true, ports: [] }, hosts: [] },
    answering('10.0.0.1', '::1'),
  );
  assert.equal(target.addresses.length, 2);
});

test('an organization that lists its hosts reaches no other, and the name of another is not even resolved', async () => {
  const resolve = answering('8.8.8.8');
  const rules = { ...strict, hosts: ['hooks.example', '*.shop.example'] };
  for (const host of ['other.example', 'hooks.example.org', 'shop.example', '8.8.8.8']) {
    await assert.rejects(resolveTarget(`https://${host}/`, rules, resolve), /^TryFailed: host_not_allowed$/);
  }
  assert.deepEqual(resolve.asked, []);
  for (const host of ['hooks.example', 'eu.shop.example.']) await resolveTarget(`https://${host}/`, rules, resolve);
  assert.deepEqual(resolve.asked, ['hooks.example', 'eu.shop.example']);
});
