// Mail over TLS to a server whose certificate an authority of its own issued.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { nodeArguments } from '@methods/built-code/node-arguments';
import { type OwnCertificate, ownCertificate } from '@methods/test/harness/own-certificate';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { type MailServer, mailServer } from '../../test/mail-server.fixture.ts';
import type { SmtpReply } from './smtp.ts';

const SENDER = new URL('./send-mails.fixture.ts', import.meta.url);
const folder = tempFolder('smtp-tls');
let own: OwnCertificate;
let fromStart: MailServer;
let startTls: MailServer;
before(async () => {
  own = await ownCertificate(folder);
  fromStart = await mailServer({ tls: { ...own, start: true } });
  startTls = await mailServer({ tls: { ...own, start: false } });
});
after(async () => {
  await fromStart[Symbol.asyncDispose]();
  await startTls[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function sent(urls: readonly string[], environment: Readonly<Record<string, string>>): Promise<SmtpReply[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeArguments(SENDER), ...urls], {
    env: environment,
  });
  return JSON.parse(stdout) as SmtpReply[];
}

/** Both ways of TLS, and a name that the certificate does not have. */
const urls = () => [
  `smtps://localhost:${fromStart.port}`,
  `smtp://localhost:${startTls.port}?requireTLS=true`,
  `smtps://127.0.0.1:${fromStart.port}`,
];
const UNTRUSTED = { code: 0, error: 'certificate_not_trusted', text: '', isRefusal: false };

test('mail is sent over TLS, from the start and by STARTTLS, to a server with the name in its trusted certificate', async () => {
  const [first, second, otherName] = await sent(urls(), { NODE_EXTRA_CA_CERTS: own.authorityFile });
  for (const reply of [first, second]) assert.deepEqual([reply?.code, reply?.error], [250, '']);
  const secure = [fromStart, startTls].map(({ mails }) => mails.map((mail) => mail.secure));
  assert.deepEqual(secure, [[true], [true]]);
  assert.deepEqual(otherName, UNTRUSTED);
});

test('an untrusted certificate gets no mail; the try says so and is not the last one', async () => {
  const before = [fromStart.mails.length, startTls.mails.length];
  assert.deepEqual(await sent(urls(), {}), [UNTRUSTED, UNTRUSTED, UNTRUSTED]);
  assert.deepEqual([fromStart.mails.length, startTls.mails.length], before);
});
