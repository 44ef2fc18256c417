// A ServiceError as the JSON reply of the HTTP interface.
import { catalog } from './catalog.ts';
import type { Finding, ServiceError } from './service-error.ts';

export interface ErrorReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: object;
}

// The interface documents these as numbers.
const NUMERIC_FACTS: ReadonlySet<string> = new Set(['sequence']);

/**
 * `{"error", "message", "details"?, "request_id", ...facts}`. A 401 is exactly `{"error":"unauthorized"}`. 429 and 503
 * carry Retry-After in whole seconds, at least 1, spread by up to half so that callers do not all return together.
 * `internal` holds only the request id.
 */
export function errorBody(error: ServiceError, requestId: string, random: () => number = Math.random): ErrorReply {
  const { http, title } = catalog[error.code];
  if (error.code === 'unauthorized') {
    return { status: http, headers: { 'www-authenticate': 'Bearer' }, body: { error: 'unauthorized' } };
  }
  const headers: Record<string, string> = {};
  if (http === 429 || http === 503) {
    const waitS = Math.max(1, (error.retryAfterMs ?? 1_000) / 1_000);
    headers['retry-after'] = String(Math.ceil(waitS * (1 + random() / 2)));
  }
  const told = error.code !== 'internal';
  const body = {
    ...(told ? factsOf(error) : {}),
    error: error.code,
    message: told ? error.message : title,
    ...(told && error.findings.length > 0 ? { details: error.findings.map(detailOf) } : {}),
    request_id: requestId,
  };
  return { status: http, headers, body };
}

function factsOf(error: ServiceError): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(error.facts).map(([name, text]) => [name, NUMERIC_FACTS.has(name) ? Number(text) : text]),
  );
}

function detailOf(finding: Finding): object {
  const { endLine, endColumn, ...rest } = finding;
  return {
    ...rest,
    ...(endLine === undefined ? {} : { end_line: endLine }),
    ...(endColumn === undefined ? {} : { end_column: endColumn }),
  };
}
