// The inspection in a run's record: a JSON document that is kept as it came, of which only the status is read.
import { ServiceError } from '@methods/errors/service-error';
import { isLocalRunStatus, type LocalRunStatus } from './local-run.ts';

const BYTES_MAX = 4 * 1024 * 1024;

export interface Inspection {
  readonly json: string;
  /** Null where it tells none. */
  readonly status: LocalRunStatus | null;
}

/** @throws ServiceError too_large over 4 MiB of UTF-8; invalid_request: not a JSON object. */
export function readInspection(json: string): Inspection {
  const bytes = Buffer.byteLength(json);
  if (bytes > BYTES_MAX) {
    throw new ServiceError('too_large', 'An inspection holds at most 4 MiB.', {
      findings: [{ path: '/inspection', code: 'inspection_bytes', message: `It has ${bytes} bytes.` }],
    });
  }
  const document = parsed(json);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new ServiceError('invalid_request', 'An inspection is a JSON object.', {
      findings: [{ path: '/inspection', code: 'type', message: 'It is no JSON object.' }],
    });
  }
  const status = Object.hasOwn(document, 'status') ? (document as { status: unknown }).status : null;
  return { json, status: isLocalRunStatus(status) ? status : null };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
