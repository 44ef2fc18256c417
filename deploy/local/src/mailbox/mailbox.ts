// The development mailbox: takes all mail of the stack by SMTP and shows it on pages, both on loopback only. Mails are in
// memory, the last ones only.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { type KeptMail, listPage, mailPage } from './mailbox-pages.ts';
import { readMail } from './read-mail.ts';

const MAILS_MAX = 200;
const MAIL_BYTES_MAX = 1 << 20;
/** HTML of a mail may be styled, and loads and runs nothing. */
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
    // A client that leaves in the middle is no fault of the stack.
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
    // By its address only: a name that leads here could be a page of elsewhere that wants to read links.
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
