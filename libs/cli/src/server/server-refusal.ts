// Converts a server's refusal, or the reason why no answer came, to an error of the command: a code, a sentence and a
// hint.
import { CommandError } from '../errors/command-error.ts';

/** One of several findings, such as a diagnostic or an input that does not fit. */
interface RefusalDetail {
  readonly path?: string;
  readonly code?: string;
  readonly message?: string;
  readonly [field: string]: unknown;
}

const HINTS: Readonly<Record<string, string>> = {
  forbidden: 'ask an admin of your organization for the role; methods whoami  shows your own',
  not_found: 'it may belong to another organization; methods whoami  shows yours',
  needs_upgrade: 'methods upgrade FILE --write, then save and publish it',
  not_published: 'methods publish METHOD',
  rate_limited: 'wait a moment and try again',
  unavailable: 'a part of the server is down; try again in a moment',
};

export class ServerRefusal extends CommandError {
  readonly status: number;
  readonly details: readonly RefusalDetail[];
  /** The whole reply, with facts such as `current_version`. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: unknown, hint?: string) {
    const record: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {};
    const code = typeof record.error === 'string' ? record.error : codeOf(status);
    const message = typeof record.message === 'string' ? record.message : `the server answered ${status}`;
    super(code, message.replace(/\.$/, ''), { hint: hint ?? HINTS[code] ?? requestHint(code, record.request_id) });
    this.status = status;
    this.details = Array.isArray(record.details) ? (record.details as RefusalDetail[]) : [];
    this.body = record;
  }
}

const UNCERTAIN = ['unreachable', 'unavailable', 'bad_reply'];

/** The request may have been carried out although no reply says so: a proxy reports a lost one as 502 or 504. */
export function isUncertain(error: unknown): error is CommandError {
  return error instanceof CommandError && UNCERTAIN.includes(error.code);
}

/** For a `catch`: how to continue when the request may have been carried out. Other errors are thrown unchanged. */
export function hintIfUncertain(hint: string): (error: unknown) => never {
  return (error) => {
    if (!isUncertain(error)) throw error;
    throw new CommandError(error.code, error.message, { hint, cause: error });
  };
}

/** A proxy in between has error pages of its own, such as while its server starts again. */
function codeOf(status: number): string {
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'unavailable' : `http_${status}`;
}

/** A fault of the server can only be found by its request id. */
function requestHint(code: string, requestId: unknown): string | undefined {
  return code === 'internal' && typeof requestId === 'string' ? `its log has more under ${requestId}` : undefined;
}

// Explains in a sentence why no answer came: unknown names, closed ports, certificates, time.

export interface CertificateFault {
  /** Such as `has expired`. */
  readonly words: string;
  readonly hint: string;
}

const FOREIGN: CertificateFault = {
  words: 'comes from an authority this machine does not trust',
  hint: 'if the authority is your own, name its file in NODE_EXTRA_CA_CERTS',
};
const RENEW = 'its operator has to renew it';

const CERTIFICATE: Readonly<Record<string, CertificateFault>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: { ...FOREIGN, words: 'is self-signed' },
  SELF_SIGNED_CERT_IN_CHAIN: FOREIGN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: FOREIGN,
  UNABLE_TO_GET_ISSUER_CERT: FOREIGN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: FOREIGN,
  CERT_HAS_EXPIRED: { words: 'has expired', hint: `${RENEW}, or the clock of this machine is ahead` },
  CERT_NOT_YET_VALID: {
    words: 'is not valid yet by the clock of this machine',
    hint: 'check the clock of this machine',
  },
  CERT_REVOKED: { words: 'was revoked', hint: RENEW },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    words: 'is for another name',
    hint: 'use the name it is for; something in between may also answer in place of the server',
  },
};

const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'it does not answer',
  UND_ERR_BODY_TIMEOUT: 'it does not answer',
};

/** The fault of the other side's certificate; null: the fault is another one. */
export function certificateFault(error: unknown): CertificateFault | null {
  return (
    codesIn(error)
      .map(certificateFaultOf)
      .find((fault) => fault !== null) ?? null
  );
}

/** `code`: of Node's error. */
export function certificateFaultOf(code: string): CertificateFault | null {
  return CERTIFICATE[code] ?? null;
}

/** `what` is a name with its address, such as `the server at https://…`. Codes: `unreachable`, `bad_certificate`. */
export function connectionFault(what: string, error: unknown): CommandError {
  const codes = codesIn(error);
  const certificate = certificateFault(error);
  if (certificate !== null) {
    const { words, hint } = certificate;
    return new CommandError('bad_certificate', `the certificate of ${what} ${words}`, { hint, cause: error });
  }
  if (codes.some((code) => code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO')) {
    const hint = 'check whether its address starts with http or https';
    return new CommandError('unreachable', `${what} does not speak TLS as this machine does`, { hint, cause: error });
  }
  const reason = isTimeout(error)
    ? 'it does not answer'
    : (codes.map((code) => CONNECTION[code]).find((words) => words !== undefined) ?? 'the connection failed');
  const hint = 'check the address and the network; a local stack is started with  methods dev';
  return new CommandError('unreachable', `${what} cannot be reached: ${reason}`, { hint, cause: error });
}

function isTimeout(error: unknown): boolean {
  return chain(error).some((each) => each.name === 'TimeoutError');
}

function codesIn(error: unknown): string[] {
  return chain(error).flatMap((each) => ('code' in each && typeof each.code === 'string' ? [each.code] : []));
}

/** The error and what it wraps; several addresses of one name fail together. */
function chain(error: unknown, depth = 0): Error[] {
  if (!(error instanceof Error) || depth > 8) return [];
  const inner = error instanceof AggregateError ? error.errors.flatMap((each) => chain(each, depth + 1)) : [];
  return [error, ...inner, ...chain(error.cause, depth + 1)];
}
