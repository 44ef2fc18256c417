import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkWebhookUrl, literalAddress, type WebhookUrlPolicy } from './check-webhook-url.ts';

const strict: WebhookUrlPolicy = { allowPrivate: false, ports: [8443] };
const open: WebhookUrlPolicy = { allowPrivate: true, ports: [] };

// [text, what the URL becomes]
const accepted: readonly (readonly [string, string])[] = [
  ['https://example.com/hook', 'https://example.com/hook'],
  ['https://example.com', 'https://example.com/'],
  ['HTTPS://Example.COM:443/Hook?a=1', 'https://example.com/Hook?a=1'],
  ['https://example.com:8443/x', 'https://example.com:8443/x'],
  ['https://example.com./x', 'https://example.com/x'],
  ['https://8.8.8.8/x', 'https://8.8.8.8/x'],
  ['https://[2606:4700:4700::1111]/x', 'https://[2606:4700:4700::1111]/x'],
  ['https://bücher.example/x', 'https://xn--bcher-kva.example/x'],
  // The apparent second host is a path, a query or a fragment.
  ['https://example.com/@127.0.0.1/', 'https://example.com/@127.0.0.1/'],
  ['https://example.com?@127.0.0.1/', 'https://example.com/?@127.0.0.1/'],
  ['https://example.com#@127.0.0.1/', 'https://example.com/#@127.0.0.1/'],
];

const refused: readonly string[] = [
  '',
  'example.com/hook',
  '//example.com/hook',
  'https:example.com',
  'https:/example.com',
  'https:///example.com',
  'https://',
  'https://?',
  'https://:443/',
  'https://./',
  'https://example.com../',
  'https://exa mple.com/',
  ' https://example.com/',
  'https://example.com/\r\nHost: 127.0.0.1',
  'https://exam\tple.com/',
  'https://example.com/\u0000',
  'https://example.com\\@127.0.0.1/',
  'https:\\\\example.com/',
  'https://user@example.com/',
  'https://user:secret@example.com/',
  'https://:@example.com/',
  'https://@127.0.0.1/',
  'https://example.com@127.0.0.1/',
  'http://example.com/',
  'http://example.com:443/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:text/plain,x',
  'javascript:alert(1)',
  'ws://example.com/',
  'unix:/var/run/docker.sock',
  'https://example.com:80/',
  'https://example.com:22/',
  'https://example.com:0/',
  'https://example.com:65536/',
  'https://example.com:8444/',
  'https://localhost/',
  'https://localhost./',
  'https://LOCALHOST/',
  'https://api.localhost/',
  'https://intranet/',
  'https://metadata/',
  'https://127.0.0.1/',
  'https://127.0.0.1./',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://0/',
  'https://１２７.０.０.１/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://①②⑦.0.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://168.63.129.16/',
  'https://100.100.100.200/',
  'https://10.0.0.1:8443/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::7f00:1]/',
  'https://[fe80::1]/',
  'https://[fe80::1%25eth0]/',
  'https://[fd00:ec2::254]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[::1/',
  'https://256.0.0.1/',
  'https://1.2.3.4.5/',
  `https://example.com/${'x'.repeat(2048)}`,
  `https://${'a.'.repeat(126)}com/`,
  `https://${'漢字'.repeat(200)}.com/`,
];

for (const [text, href] of accepted) {
  test(`accepts ${JSON.stringify(text)}`, () => {
    const check = checkWebhookUrl(text, strict);
    assert.equal(check.ok && check.url.href, href);
  });
}

for (const text of refused) {
  test(`refuses ${JSON.stringify(text.slice(0, 60))}`, () => {
    const check = checkWebhookUrl(text, strict);
    assert.equal(check.ok, false);
    assert.match(check.ok ? '' : check.reason, /^[A-Z].*\.$/);
  });
}

test('private webhooks allow http, any port, names without a dot and private addresses', () => {
  for (const text of ['http://127.0.0.1:3000/hook', 'http://localhost:1/', 'https://intranet/', 'http://[::1]:99/']) {
    assert.equal(checkWebhookUrl(text, open).ok, true, text);
  }
});

test('private webhooks still refuse other schemes, user names and two readings of one text', () => {
  for (const text of [
    'ftp://localhost/',
    'http://a@localhost/',
    'http://localhost\\@b/',
    'http:localhost/',
    'http://localhost:0/',
  ]) {
    assert.equal(checkWebhookUrl(text, open).ok, false, text);
  }
});

test('a literal address is distinguished from a name', () => {
  assert.equal(literalAddress(new URL('https://0x7f.1/')), '127.0.0.1');
  assert.equal(literalAddress(new URL('https://[::1]/')), '::1');
  assert.equal(literalAddress(new URL('https://example.com/')), null);
});
