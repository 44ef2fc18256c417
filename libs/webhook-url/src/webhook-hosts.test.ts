import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowsHost, canonicalHost } from './webhook-hosts.ts';

test('a name stands for itself, a star for every name below and not for the one it stands before', () => {
  const hosts = ['hooks.example.com', '*.shop.example.com', '*.Example.ORG.'];
  for (const host of ['hooks.example.com', 'eu.shop.example.com', 'a.b.shop.example.com', 'x.example.org']) {
    assert.ok(allowsHost(hosts, host), host);
  }
  const others = ['example.com', 'x.hooks.example.com', 'shop.example.com', 'myshop.example.com', '.shop.example.com'];
  for (const host of others) assert.ok(!allowsHost(hosts, host), host);
});

test('an empty list allows every host', () => {
  assert.ok(allowsHost([], 'anywhere.example'));
});

test('case and one dot at the end make no other name', () => {
  assert.equal(canonicalHost('Hooks.Example.COM.'), 'hooks.example.com');
});
