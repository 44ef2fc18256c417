import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedAddress } from './surface.ts';

test('an IPv4 address counts by itself, even if a socket reports it as IPv6', () => {
  assert.equal(countedAddress('192.0.2.7'), '192.0.2.7');
  assert.equal(countedAddress('::ffff:192.0.2.7'), '192.0.2.7');
  assert.equal(countedAddress('::FFFF:192.0.2.7'), '192.0.2.7');
});

test('all IPv6 addresses of one network count together, in any notation', () => {
  const network = ['2001:db8:0:1::7', '2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:0DB8:0:0001::', '2001:db8::1:0:0:0:7'];
  assert.deepEqual([...new Set(network.map(countedAddress))], ['2001:db8:0:1']);
  assert.equal(countedAddress('2001:db8:0:2::7'), '2001:db8:0:2');
  assert.equal(countedAddress('::1'), '0:0:0:0');
  assert.equal(countedAddress('1::2:3:4:5:6:7'), '1:0:2:3');
  assert.equal(countedAddress('fe80::1%eth0'), 'fe80:0:0:0');
});

test('all texts of a proxy that are not addresses count as one address, at any length', () => {
  for (const ip of ['', 'unknown', '999.1.1.1', '_hidden', 'x'.repeat(10_000)]) {
    assert.equal(countedAddress(ip), 'unknown');
  }
});
