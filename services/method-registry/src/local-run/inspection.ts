// The inspection in a run's record: a JSON document that is kept as it came, of which only the status is read.
import { ServiceError } from '@methods/errors/service-error';
import type { ReadInspection } from './inspection-json.ts';
import type { LocalRunStatus } from './local-run.ts';

const BYTES_MAX = 4 * 1024 * 1024;

export interface Inspection {
  readonly json: string;
  /** Null where it holds none. */
  readonly status: LocalRunStatus | null;
}

/** Called before it is parsed. @throws ServiceError too_large over 4 MiB of UTF-8. */
export function checkInspectionSize(json: string): void {
  const bytes = Buffer.byteLength(json);
  if (bytes <= BYTES_MAX) return;
  throw new ServiceError('too_large', 'An inspection holds at most 4 MiB.', {
    findings: [{ path: '/inspection', code: 'inspection_bytes', message: `It has ${bytes} bytes.` }],
  });
}

/** @throws ServiceError invalid_request: not a JSON object. */
export function inspection(json: string, { isObject, status }: ReadInspection): Inspection {
  if (isObject) return { json, status };
  throw new ServiceError('invalid_request', 'An inspection is a JSON object.', {
    findings: [{ path: '/inspection', code: 'type', message: 'It is not a JSON object.' }],
  });
}
