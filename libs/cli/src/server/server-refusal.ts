// A server's refusal as an error of the command: the server's own code and sentence, and a hint.
import { CommandError } from '../errors/command-error.ts';

/** One of several findings, such as a diagnostic or an input that does not fit. */
export interface RefusalDetail {
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
    const code = typeof record.error === 'string' ? record.error : `http_${status}`;
    const message = typeof record.message === 'string' ? record.message : `the server answered ${status}`;
    super(code, message.replace(/\.$/, ''), { hint: hint ?? HINTS[code] ?? requestHint(code, record.request_id) });
    this.status = status;
    this.details = Array.isArray(record.details) ? (record.details as RefusalDetail[]) : [];
    this.body = record;
  }
}

/** A fault of the server is only found by its request id. */
function requestHint(code: string, requestId: unknown): string | undefined {
  return code === 'internal' && typeof requestId === 'string' ? `its log has more under ${requestId}` : undefined;
}
