// Reads a step's error from a worker's report. It keeps no more of an HTTP server's response than our own workers send,
// since an error is in every reply that shows the run.
import type { StepError as ToldError } from '@methods/proto/run/v1/run_pb';
import type { StepError } from '../run/run.ts';

const HEADERS_MAX = 20;
const HEADER_CHARACTERS_MAX = 256;
const TEXT_CHARACTERS_MAX = 1024;

export function errorOf({ kind, message, status, line, reason, headers, body }: ToldError): StepError {
  const kept = Object.entries(headers)
    .filter(([name, value]) => name.length + value.length <= HEADER_CHARACTERS_MAX)
    .slice(0, HEADERS_MAX)
    .map(([name, value]) => [name, storable(value)] as const);
  return {
    kind,
    message,
    status,
    line,
    ...(isKept(reason) && { reason: storable(reason) }),
    ...(kept.length > 0 && { headers: Object.fromEntries(kept) }),
    ...(isKept(body) && { body: storable(body) }),
  };
}

function isKept(text: string): boolean {
  return text !== '' && text.length <= TEXT_CHARACTERS_MAX;
}

/** Postgres text cannot hold NUL. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}
