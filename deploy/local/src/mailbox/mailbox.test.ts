import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { Mailbox } from './mailbox.ts';
import { readMail } from './read-mail.ts';

const mailbox = new Mailbox();
let smtpUrl = '';
let pageUrl = '';
before(async () => {
  ({ smtpUrl, pageUrl } = await mailbox.start());
});
after(() => mailbox.stop());

async function send(fields: { subject: string; text?: string; html?: string }): Promise<void> {
  const transport = createTransport(smtpUrl);
  await transport.sendMail({ from: 'Methods <m@local.example>', to: 'ada@local.example', text: 'plain', ...fields });
  transport.close();
}

const read = async (path: string) => (await fetch(`${pageUrl}${path}`)).text();

test('an arriving mail is listed and shown, with links that can be followed', async () => {
  const link = 'http://127.0.0.1:4600/a/token_-1';
  await send({
    subject: 'Größe <b>?',
    text: `Look and answer: ${link}\n\n${'ä b '.repeat(100)}=20\n`,
    html: `<a href="${link}">x</a>`,
  });
  const list = await read('/');
  assert.match(list, /<a href="\/mails\/1">Größe &lt;b&gt;\?<\/a>/);
  assert.match(list, /ada@local\.example/);
  const mail = await read('/mails/1');
  assert.ok(mail.includes(`<a href="${link}" rel="noreferrer">${link}</a>`));
  assert.ok(mail.includes(`${'ä b '.repeat(100)}=20`));
  assert.ok((await read('/mails/1/html')).includes(`<a href="${link}">x</a>`));
  assert.equal((await fetch(`${pageUrl}/mails/99`)).status, 404);
});

test('its pages run and load nothing, and are only for the address of this machine', async () => {
  const { headers } = await fetch(`${pageUrl}/`);
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal((await fetch(`${pageUrl}/`, { method: 'POST' })).status, 405);
  const status = await new Promise((resolve, reject) => {
    request(`${pageUrl}/`, { headers: { host: 'evil.example' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  assert.equal(status, 421);
});

test('a mail that is too large is refused, and only the last of many are kept', async () => {
  await assert.rejects(send({ subject: 'large', text: 'x'.repeat(2 << 20) }), { responseCode: 552 });
  const transport = createTransport({ url: smtpUrl, pool: true } as never);
  for (let n = 0; n < 205; n++) {
    await transport.sendMail({ from: 'm@local.example', to: 'ada@local.example', subject: `no ${n}`, text: '' });
  }
  transport.close();
  const list = await read('/');
  assert.equal(list.match(/<li>/g)?.length, 200);
  assert.ok(list.includes('no 204') && !list.includes('>no 4<'));
});

test('a mail of any shape is read without a fault, in bounded time', () => {
  assert.deepEqual(readMail(''), { subject: '', from: '', to: '', text: '', html: '' });
  const nested = (level: number): string =>
    level === 0
      ? 'Content-Type: text/plain\r\n\r\ndeep'
      : `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n${nested(level - 1)}\r\n--b${level}--`;
  assert.equal(readMail(nested(3)).text, 'deep');
  assert.equal(readMail(nested(40)).text, '');
});
