import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '@methods/config/environment';
import { readConfig } from './config.ts';
import { DEFAULT_RETRY_MS, MAIL_RETRY_MS } from './delivery/schedule.ts';

const LINK_KEY = Buffer.alloc(32, 1).toString('base64');
const least = {
  LISTEN: '127.0.0.1:0',
  POSTGRES_URL: 'postgres://localhost/x',
  NATS_URL: 'nats://localhost:4222',
  METHOD_REGISTRY_URL: 'registry:7000',
};

test('a minimal environment results in the documented webhook rules', () => {
  const config = readConfig(least);
  assert.deepEqual(config.webhookUrls, { allowPrivate: false, ports: [] });
  assert.deepEqual(config.retryMs, DEFAULT_RETRY_MS);
  assert.equal(config.timeoutMs, 10_000);
  assert.ok(config.claimMs + 5_000 < 30_000, 'a dead node’s deliveries go on within 30 s');
});

test('lists are read as numbers', () => {
  const config = readConfig({
    ...least,
    WEBHOOK_PORTS: '8443, 9443',
    WEBHOOK_RETRY_MS: '1,2',
    ALLOW_PRIVATE_WEBHOOKS: '1',
  });
  assert.deepEqual(config.webhookUrls, { allowPrivate: true, ports: [8443, 9443] });
  assert.deepEqual(config.retryMs, [1, 2]);
});

test('answer links need a key and an address, and the key appears in no text', () => {
  const config = readConfig({ ...least, LINK_KEY, PUBLIC_URL: 'https://methods.example' });
  assert.equal(config.links?.publicUrl, 'https://methods.example');
  assert.equal(config.links.key.reveal(), LINK_KEY);
  assert.ok(!JSON.stringify(config).includes(LINK_KEY));
  // The gateway has this setting too, so an environment for both must be accepted.
  assert.equal(readConfig({ ...least, PUBLIC_URL: 'https://methods.example' }).links, null);
});

test('mail needs a sender and links, and the password appears in no text', () => {
  const links = { LINK_KEY, PUBLIC_URL: 'https://methods.example' };
  const mail = { SMTP_URL: 'smtp://ada:hush@mail.example:587', MAIL_FROM: 'Methods <m@example.com>', ...links };
  const config = readConfig({ ...least, ...mail });
  assert.equal(config.mail?.smtpUrl.reveal(), mail.SMTP_URL);
  assert.deepEqual(config.mail.retryMs, MAIL_RETRY_MS);
  assert.ok(!JSON.stringify(config).includes('hush'));
  assert.equal(readConfig({ ...least, ...links, MAIL_FROM: mail.MAIL_FROM }).mail, null);
  for (const name of ['MAIL_FROM', 'LINK_KEY', 'PUBLIC_URL'])
    assert.throws(() => readConfig({ ...least, ...mail, [name]: '' }), { message: new RegExp(name) });
});

test('the waits of a mail grow, and outlast a day without a server', () => {
  for (const [n, waitMs] of MAIL_RETRY_MS.entries()) assert.ok(waitMs > (MAIL_RETRY_MS[n - 1] ?? 0));
  assert.ok(MAIL_RETRY_MS.reduce((sum, waitMs) => sum + waitMs * 0.9, 0) > 24 * 3_600_000);
});

test('wrong values are refused by name', () => {
  const wrong: readonly Record<string, string>[] = [
    { LISTEN: '7000' },
    { POSTGRES_URL: 'mysql://localhost' },
    { WEBHOOK_PORTS: '0' },
    { WEBHOOK_PORTS: '70000' },
    { WEBHOOK_RETRY_MS: '5s' },
    { WEBHOOK_TIMEOUT_MS: '15000' },
    { WEBHOOK_CLAIM_MS: '19999' },
    { LINK_KEY: 'c2hvcnQ=', PUBLIC_URL: 'https://methods.example' },
    { PUBLIC_URL: 'https://methods.example/', LINK_KEY },
    { PUBLIC_URL: '', LINK_KEY },
    { MAIL_FROM: 'a@example.com\r\nBcc: b@example.com' },
    { MAIL_FROM: 'nobody' },
    { SMTP_URL: 'http://mail.example' },
  ];
  for (const values of wrong) {
    const name = Object.keys(values)[0] ?? '';
    assert.throws(
      () => readConfig({ ...least, ...values }),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, name === 'WEBHOOK_TIMEOUT_MS' ? /WEBHOOK_CLAIM_MS/ : new RegExp(name));
        return true;
      },
    );
  }
});
