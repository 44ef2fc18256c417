// The development mailbox: accepts all mail of the stack by SMTP and shows it on pages, both on loopback only. It keeps
// the last mails in memory.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { type ReadMail, readMail } from './read-mail.ts';

const MAILS_MAX = 200;
const MAIL_BYTES_MAX = 1 << 20;
/** HTML of a mail may be styled, but loads and runs nothing. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export class Mailbox {
  private mails: KeptMail[] = [];
  private count = 0;
  private readonly pages: Server = createServer((request, response) => this.reply(request, response));
  private readonly smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    size: MAIL_BYTES_MAX,
    closeTimeout: 100,
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAIL_BYTES_MAX) chunks.push(chunk);
      });
      stream.on('end', () => {
        if (bytes > MAIL_BYTES_MAX)
          return done(Object.assign(new Error('The mail is too large.'), { responseCode: 552 }));
        this.keep(Buffer.concat(chunks).toString('latin1'));
        done();
      });
    },
  });

  async start(): Promise<{ readonly smtpUrl: string; readonly pageUrl: string }> {
    // A client that disconnects early is no fault of the stack.
    this.smtp.on('error', () => {});
    this.smtp.listen(0, '127.0.0.1');
    await once(this.smtp.server, 'listening');
    this.pages.listen(0, '127.0.0.1');
    await once(this.pages, 'listening');
    return {
      smtpUrl: `smtp://127.0.0.1:${(this.smtp.server.address() as AddressInfo).port}`,
      pageUrl: this.pageUrl,
    };
  }

  async stop(): Promise<void> {
    this.pages.closeAllConnections();
    this.pages.close();
    await new Promise<void>((resolve) => this.smtp.close(() => resolve()));
  }

  private get pageUrl(): string {
    return `http://127.0.0.1:${(this.pages.address() as AddressInfo).port}`;
  }

  private keep(raw: string): void {
    this.count++;
    this.mails = [{ ...readMail(raw), id: this.count, at: new Date() }, ...this.mails].slice(0, MAILS_MAX);
  }

  private reply({ method, url = '/', headers }: IncomingMessage, response: ServerResponse): void {
    // Only by its address: another name for it could be a foreign page that wants to read links.
    if (headers.host !== new URL(this.pageUrl).host) return send(response, 421, 'Wrong host.', 'text/plain');
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'Only GET.', 'text/plain');
    if (url === '/') return send(response, 200, listPage(this.mails));
    const [, id, rich] = /^\/mails\/(\d{1,9})(\/html)?$/.exec(url) ?? [];
    const mail = this.mails.find((one) => one.id === Number(id));
    if (mail === undefined) return send(response, 404, 'There is no such mail.', 'text/plain');
    send(response, 200, rich === undefined ? mailPage(mail) : mail.html);
  }
}

function send(response: ServerResponse, status: number, text: string, type = 'text/html'): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': POLICY,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}

/** The pages of the development mailbox: a list of mails, and one of them. They need no script. */
interface KeptMail extends ReadMail {
  readonly id: number;
  readonly at: Date;
}

/** Newest first. */
function listPage(mails: readonly KeptMail[]): string {
  const rows = mails.map(
    ({ id, at, to, subject }) =>
      `<li><a href="/mails/${id}">${escaped(subject)}</a><br><small>${escaped(to)}, ${time(at)}</small></li>`,
  );
  const empty = '<p>No mail has come yet. Reload this page when a question has been asked.</p>';
  return page('Mail of this stack', rows.length === 0 ? empty : `<ol reversed>${rows.join('\n')}</ol>`);
}

function mailPage({ id, at, from, to, subject, text, html }: KeptMail): string {
  const rich = html === '' ? '' : ` <a href="/mails/${id}/html">As HTML</a>`;
  return page(
    subject,
    `<p><a href="/">All mails</a>${rich}</p>
<dl><dt>From</dt><dd>${escaped(from)}</dd><dt>To</dt><dd>${escaped(to)}</dd><dt>At</dt><dd>${time(at)}</dd></dl>
<pre>${linked(text)}</pre>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>
body { max-width: 45rem; margin: 2rem auto; padding: 0 1rem; font: 16px/24px system-ui, sans-serif; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; }
li { margin-bottom: 1rem; }
dt { float: left; width: 4rem; }
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${body}
</body>
</html>
`;
}

function linked(text: string): string {
  return escaped(text).replace(/https?:\/\/[^\s<>&"']+/g, (url) => `<a href="${url}" rel="noreferrer">${url}</a>`);
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

function time(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
