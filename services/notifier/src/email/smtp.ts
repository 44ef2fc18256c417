// Hands mails to the SMTP server of SMTP_URL, over a few reused connections.
import { createTransport } from 'nodemailer';

export interface OutgoingMail {
  readonly from: string;
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  /** The message that this one follows; null: none. */
  readonly follows: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The result of handing a mail over. */
export interface SmtpReply {
  /** The server's reply code; 0: it sent none, and `error` says why. */
  readonly code: number;
  readonly error: string;
  /** The reply's first KiB. */
  readonly text: string;
  /** The server refuses this mail or its recipient permanently; another mail may succeed. */
  readonly isRefusal: boolean;
}

export interface Smtp {
  /** Never rejects. `signal` ends it, even while the server replies slowly. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<SmtpReply>;
  close(): void;
}

export interface SmtpOptions {
  readonly url: string;
  readonly connectionsMax: number;
  /** For the connection, for the greeting, and for each reply. */
  readonly timeoutMs: number;
}

const REPLY_CHARACTERS_MAX = 1_024;
const MAILS_PER_CONNECTION = 100;

export function smtp({ url, connectionsMax, timeoutMs }: SmtpOptions): Smtp {
  const transport = createTransport({
    ...serverOf(url),
    pool: true,
    maxConnections: connectionsMax,
    maxMessages: MAILS_PER_CONNECTION,
    // Only a mail of which nothing was sent is retried here; anything else is a failed try, and is recorded.
    maxRequeues: 1,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // A mail contains only texts: nothing in it is a file or an address to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // Each fault also rejects a send.
  transport.on('error', () => {});
  return {
    async send({ follows, headers, ...mail }, signal) {
      const thread = follows === null ? {} : { inReplyTo: follows, references: follows };
      try {
        const { response } = await transport.sendMail({ ...mail, ...thread, headers: { ...headers }, signal });
        return { code: codeOf(response), error: '', text: start(response), isRefusal: false };
      } catch (error) {
        return failure(error);
      }
    },
    close: () => transport.close({ force: true }),
  };
}

/**
 * Mail leaves this machine only over TLS with a verified certificate, unless the URL says otherwise (`?ignoreTLS=true`,
 * `?requireTLS=false`, `?tls.rejectUnauthorized=false`).
 */
function serverOf(url: string) {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const says = (name: string) => searchParams.get(name);
  const secure = protocol === 'smtps:';
  const local = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  const ignoreTLS = says('ignoreTLS') === 'true';
  const requireTLS = says('requireTLS') ?? String(!local);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ignoreTLS,
    requireTLS: !secure && !ignoreTLS && requireTLS === 'true',
    tls: { rejectUnauthorized: says('tls.rejectUnauthorized') !== 'false' },
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  };
}

interface SmtpFault {
  readonly code?: string;
  /** Node's own code, if the library replaces it. */
  readonly originalCode?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

/** The error's own message may name the account; its code and the server's reply are enough. */
function failure(error: unknown): SmtpReply {
  const { code = '', originalCode = '', command = '', response = '', responseCode = 0 } = error as SmtpFault;
  // A reply to the sign-in may repeat the account's name.
  const shown = command.startsWith('AUTH') || code === 'EAUTH' ? '' : response;
  // The operator must correct a refused sender: the mail waits for that.
  const isRefusal = responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');
  return {
    code: responseCode,
    error: tlsFault(originalCode) ?? FAULTS[code] ?? 'smtp_failed',
    text: start(shown),
    isRefusal,
  };
}

/** A fault of the certificate or the protocol; the library reports each as a socket error. */
function tlsFault(code: string): string | null {
  if (/CERT|CRL|_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/.test(code)) return 'certificate_not_trusted';
  return /^(ERR_SSL|ERR_TLS|EPROTO)/.test(code) ? 'tls_failed' : null;
}

const FAULTS: Readonly<Record<string, string>> = {
  EABORT: 'timeout',
  EAUTH: 'smtp_sign_in_refused',
  ECONNECTION: 'connect_failed',
  ECONNREFUSED: 'connect_failed',
  ECONNRESET: 'connect_failed',
  EDNS: 'dns_failed',
  EENVELOPE: 'address_refused',
  EMESSAGE: 'message_refused',
  EPROTOCOL: 'bad_answer',
  ESOCKET: 'connect_failed',
  ETIMEDOUT: 'timeout',
  ETLS: 'tls_failed',
};

function codeOf(response: string): number {
  return Number(/^\d{3}/.exec(response)?.[0] ?? 250);
}

function start(text: string): string {
  return text.slice(0, REPLY_CHARACTERS_MAX);
}
