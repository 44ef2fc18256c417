import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPublicAddress } from './check-webhook-url.ts';

// First and last address of every block that IANA lists as special, and of the clouds' own servers.
const special: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['169.254.169.254', '169.254.170.2'],
  ['168.63.129.16', '100.100.100.200'],
  ['::', '::1'],
  ['::7f00:1', '::ffff:127.0.0.1'],
  ['::ffff:0:0', '::ffff:ffff:ffff'],
  ['::ffff:8.8.8.8', '::ffff:0:127.0.0.1'],
  ['64:ff9b::', '64:ff9b::ffff:ffff'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::', '100::ffff:ffff:ffff:ffff'],
  ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:0:7f00:1::', '2001:2::1'],
  ['2001:3::', '2001:4:112::1'],
  ['2001:10::', '2001:20::1'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3ffe::', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::', '5f00::1'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fd00:ec2::254', 'fe80::a9fe:a9fe'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

for (const [first, last] of special) {
  test(`neither ${first} nor ${last} is public`, () => {
    assert.equal(isPublicAddress(first), false);
    assert.equal(isPublicAddress(last), false);
  });
}

const outside = [
  '1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0',
  '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255',
  '192.0.1.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255',
  '2000::1', '2001:200::', '2001:4860:4860::8888', '2003::1', '2606:4700:4700::1111', '3ffd::1', '3fff:1000::',
]; // biome-ignore format: one list

test('the addresses right beside the special blocks are public', () => {
  for (const address of outside) assert.equal(isPublicAddress(address), true, address);
});

test('other spellings of an address are not addresses', () => {
  for (const text of [
    '',
    '127.1',
    '8.8.8',
    '134744072',
    '0x8.8.8.8',
    '08.8.8.8',
    '8.8.8.8 ',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
    'example.com',
    '８.8.8.8',
  ]) {
    assert.equal(isPublicAddress(text), false, text);
  }
});

test('no IPv6 spelling of an IPv4 address is public', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      assert.equal(isPublicAddress(`::${address}`), false);
      assert.equal(isPublicAddress(`::ffff:${address}`), false);
      assert.equal(isPublicAddress(`64:ff9b::${address}`), false);
    }),
    { numRuns: 2000 },
  );
});
