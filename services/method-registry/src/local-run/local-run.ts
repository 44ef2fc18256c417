// The record of a run on a person's own computer. The newest one is kept, by its sequence.
import type { MethodId, OrgId, RunId, VersionId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Party } from '../audit/audit-entry.ts';

const STATUSES = ['running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
type LocalRunStatus = (typeof STATUSES)[number];

export interface LocalRun {
  readonly orgId: OrgId;
  /** Created on that computer. */
  readonly runId: RunId;
  /** Bare id. */
  readonly methodId: MethodId;
  readonly versionId: VersionId;
  readonly sequence: number;
  /** Null if the inspection has none. */
  readonly status: LocalRunStatus | null;
  /** When its first record arrived. */
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly createdBy: Party;
}

function isLocalRunStatus(value: unknown): value is LocalRunStatus {
  return STATUSES.some((status) => status === value);
}

// Reads an inspection: JSON of up to 4 MiB, which takes long to parse, so it runs in a thread.

/** `isObject` false: it is other JSON, or none. `status` null: it has no known status. */
export interface ReadInspection {
  readonly isObject: boolean;
  readonly status: LocalRunStatus | null;
}

export function readInspectionJson(json: string): ReadInspection {
  const document = parsed(json);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return { isObject: false, status: null };
  }
  const status = Object.hasOwn(document, 'status') ? (document as { status: unknown }).status : null;
  return { isObject: true, status: isLocalRunStatus(status) ? status : null };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

const BYTES_MAX = 4 * 1024 * 1024;

/** The inspection in a run's record: a JSON document that is stored unchanged, and of which only the status is read. */
export interface Inspection {
  readonly json: string;
  /** Null if it has none. */
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
