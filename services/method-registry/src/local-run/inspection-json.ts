// Reads an inspection: JSON of up to 4 MiB, which takes long to read, so it runs in a thread.
import { isLocalRunStatus, type LocalRunStatus } from './local-run.ts';

/** `isObject` false: it is other JSON, or none. `status` null: it holds no known status. */
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
