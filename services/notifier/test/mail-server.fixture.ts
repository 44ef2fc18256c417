// A real SMTP server on loopback, in this process, that stores what it gets and misbehaves on request.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly to: string;
  /** The message as it came, headers first. */
  readonly raw: string;
  /** It came over TLS. */
  readonly secure: boolean;
}

export interface MailServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Sessions that began. */
  readonly sessions: number;
}

export interface MailServerOptions {
  readonly port?: number;
  /** `start`: TLS from the first byte; otherwise by STARTTLS. Absent: none. */
  readonly tls?: { readonly key: Buffer; readonly certificate: Buffer; readonly start: boolean };
  /** Called for each recipient; an error with a `responseCode` refuses it. */
  readonly onRecipient?: (address: string) => Promise<void> | void;
  /** Called with each message before it is accepted. */
  readonly onMail?: (mail: ReceivedMail) => Promise<void> | void;
}

export async function mailServer({ port = 0, tls, onRecipient, onMail }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let sessions = 0;
  const server = new SMTPServer({
    authOptional: true,
    ...(tls && { secure: tls.start, key: tls.key, cert: tls.certificate }),
    disabledCommands: tls ? ['AUTH'] : ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    closeTimeout: 10,
    onConnect(_session, done) {
      sessions++;
      done();
    },
    onRcptTo({ address }, _session, done) {
      (async () => onRecipient?.(address))().then(
        () => done(),
        (error: Error) => done(error),
      );
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const mail = {
          to: session.envelope.rcptTo[0]?.address ?? '',
          raw: Buffer.concat(chunks).toString('utf8'),
          secure: session.secure,
        };
        (async () => onMail?.(mail))().then(
          () => {
            mails.push(mail);
            done();
          },
          (error: Error) => done(error),
        );
      });
    },
  });
  server.on('error', () => {});
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const at = (server.server.address() as AddressInfo).port;
  return {
    url: `smtp://127.0.0.1:${at}`,
    port: at,
    mails,
    get sessions() {
      return sessions;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

export function refusal(message: string, responseCode: number): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** Sends the result of `answer` for each received line; null disconnects. */
export async function scriptedServer(
  answer: (line: string, socket: Socket) => string | null,
): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    const say = (line: string) => {
      const reply = answer(line, socket);
      if (reply === null) socket.destroy();
      else socket.write(reply);
    };
    say('');
    let rest = '';
    socket.on('data', (chunk) => {
      const lines = `${rest}${chunk.toString()}`.split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (!socket.destroyed) say(line);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
