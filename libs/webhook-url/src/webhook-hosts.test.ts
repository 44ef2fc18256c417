import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowsHost, canonicalHost } from './check-webhook-url.ts';

test('a name matches itself, a star every name below and not the name after it', () => {
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

test('case and one dot at the end do not matter', () => {
  assert.equal(canonicalHost('Hooks.Example.COM.'), 'hooks.example.com');
});
