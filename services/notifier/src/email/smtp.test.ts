import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailServer, refusal, scriptedServer } from '../../test/mail-server.fixture.ts';
import { type OutgoingMail, type SmtpReply, smtp } from './smtp.ts';

const mail: OutgoingMail = {
  from: 'Methods <methods@example.com>',
  to: { name: 'Ada', address: 'ada@example.com' },
  subject: 'approve asks: yes?',
  text: 'plain\n',
  html: '<p>rich</p>',
  messageId: '<1@example.com>',
  follows: null,
  headers: { 'Auto-Submitted': 'auto-generated' },
};
const never = new AbortController().signal;

async function sent(url: string, changes: Partial<OutgoingMail> = {}, signal = never): Promise<SmtpReply> {
  const sender = smtp({ url, connectionsMax: 1, timeoutMs: 60_000 });
  try {
    return await sender.send({ ...mail, ...changes }, signal);
  } finally {
    sender.close();
  }
}

test('a mail arrives with both parts and its headers, and one connection carries several', async () => {
  await using server = await mailServer();
  const sender = smtp({ url: server.url, connectionsMax: 1, timeoutMs: 60_000 });
  try {
    const first = await sender.send(mail, never);
    assert.deepEqual([first.code, first.error, first.isRefusal], [250, '', false]);
    await sender.send({ ...mail, follows: '<1@example.com>', messageId: '<2@example.com>' }, never);
  } finally {
    sender.close();
  }
  assert.equal(server.sessions, 1);
  const [one = { to: '', raw: '' }, two = { to: '', raw: '' }] = server.mails;
  assert.equal(one.to, 'ada@example.com');
  for (const part of [
    'Message-ID: <1@example.com>',
    'Auto-Submitted: auto-generated',
    'multipart/alternative',
    '<p>rich</p>',
  ])
    assert.ok(one.raw.includes(part), part);
  assert.ok(!one.raw.includes('In-Reply-To'));
  assert.ok(two.raw.includes('In-Reply-To: <1@example.com>'));
});

test('a line break in a subject, a name or an address adds no header and no recipient', async () => {
  await using server = await mailServer();
  const reply = await sent(server.url, {
    subject: 'yes?\r\nBcc: eve@example.com\r\n\r\nbody',
    to: { name: 'Ada\r\nBcc: eve@example.com', address: 'ada@example.com\r\nRCPT TO:<eve@example.com>' },
  });
  for (const { to, raw } of server.mails) {
    assert.notEqual(to, 'eve@example.com');
    assert.doesNotMatch(raw, /^Bcc:/im);
  }
  assert.ok(reply.code !== 250 || server.mails.length === 1);
});

test('a refused address is refused permanently, a busy server and a refused sender are not', async () => {
  await using server = await mailServer({
    onRecipient(address) {
      if (address.startsWith('gone')) throw refusal('5.1.1 unknown mailbox', 550);
      if (address.startsWith('busy')) throw refusal('4.2.1 later', 450);
    },
  });
  const gone = await sent(server.url, { to: { name: '', address: 'gone@example.com' } });
  assert.deepEqual([gone.code, gone.error, gone.isRefusal], [550, 'address_refused', true]);
  assert.match(gone.text, /unknown mailbox/);
  const busy = await sent(server.url, { to: { name: '', address: 'busy@example.com' } });
  assert.deepEqual([busy.code, busy.isRefusal], [450, false]);
  await using strict = await scriptedServer((line) =>
    line.startsWith('MAIL') ? '550 not from here\r\n' : `${line === '' ? 220 : 250} ok\r\n`,
  );
  const sender = await sent(strict.url);
  assert.deepEqual([sender.code, sender.isRefusal], [550, false]);
});

test('a connection that breaks in the middle of a mail, or is refused, is a failed try', async () => {
  await using cut = await scriptedServer((line) => {
    if (line === '') return '220 ready\r\n';
    if (line === 'DATA') return '354 go on\r\n';
    return line.includes(':') && !/^(EHLO|MAIL|RCPT)/.test(line) ? null : '250 ok\r\n';
  });
  const reply = await sent(cut.url);
  assert.deepEqual([reply.code, reply.isRefusal], [0, false]);
  assert.notEqual(reply.error, '');
  let url = '';
  {
    await using closed = await mailServer();
    url = closed.url;
  }
  const down = await sent(url);
  assert.deepEqual([down.code, down.error], [0, 'connect_failed']);
});

test('a server that never replies is given up at the signal', async () => {
  const ending = new AbortController();
  await using silent = await scriptedServer((line) => {
    if (line === '') return '220 ready\r\n';
    setImmediate(() => ending.abort());
    return '';
  });
  const reply = await sent(silent.url, {}, ending.signal);
  assert.deepEqual([reply.code, reply.error, reply.isRefusal], [0, 'timeout', false]);
});

test('mail is sent to another machine only over TLS, and the password of a refused sign-in is in no reply', async () => {
  await using plain = await scriptedServer((line) => {
    if (line === '') return '220 ready\r\n';
    if (line.startsWith('EHLO')) return '250-hello\r\n250 AUTH PLAIN\r\n';
    return line.startsWith('AUTH') ? `535 5.7.8 no ${line}\r\n` : '250 ok\r\n';
  });
  const { port } = new URL(plain.url);
  const asked = await sent(`smtp://127.0.0.1:${port}?requireTLS=true`);
  assert.deepEqual([asked.code, asked.isRefusal], [0, false]);
  assert.notEqual(asked.error, '');
  const signIn = await sent(`smtp://ada:hush-hush@127.0.0.1:${port}`);
  assert.equal(signIn.error, 'smtp_sign_in_refused');
  const secret = Buffer.from('\u0000ada\u0000hush-hush').toString('base64');
  for (const part of ['hush-hush', secret]) assert.ok(!JSON.stringify(signIn).includes(part));
});
