// Converts a ServiceError to the protobuf message in a trailer or in an item of a frame, and back.
import { create } from '@bufbuild/protobuf';
import {
  type ErrorDetail,
  ErrorDetailSchema,
  type Finding as FindingMessage,
} from '@methods/proto/error/v1/error_detail_pb';
import { catalog, isErrorCode } from './catalog.ts';
import { asServiceError, type Finding, ServiceError } from './service-error.ts';

/** Never fails. An error that is not ours becomes `internal` without details: its text may hold content. */
export function toErrorDetail(error: unknown): ErrorDetail {
  const known = asServiceError(error);
  if (known.code === 'internal')
    return create(ErrorDetailSchema, { code: 'internal', message: catalog.internal.title });
  return create(ErrorDetailSchema, {
    code: known.code,
    message: known.message,
    findings: known.findings.map((finding) => ({ ...finding })),
    facts: { ...known.facts },
    retryAfterMs: Math.max(0, Math.ceil(known.retryAfterMs ?? 0)),
  });
}

/** A code this process does not know (a newer peer's) becomes `internal`. */
export function fromErrorDetail(detail: ErrorDetail): ServiceError {
  if (!isErrorCode(detail.code)) {
    return new ServiceError('internal', undefined, {
      cause: new Error(`unknown error code ${detail.code.slice(0, 64)}`),
    });
  }
  return new ServiceError(detail.code, detail.message || undefined, {
    findings: detail.findings.map(fromFindingMessage),
    facts: { ...detail.facts },
    ...(detail.retryAfterMs > 0 ? { retryAfterMs: detail.retryAfterMs } : {}),
  });
}

function fromFindingMessage(message: FindingMessage): Finding {
  return {
    path: message.path,
    code: message.code,
    message: message.message,
    ...(message.line > 0 ? { line: message.line } : {}),
    ...(message.column > 0 ? { column: message.column } : {}),
    ...(message.endLine > 0 ? { endLine: message.endLine } : {}),
    ...(message.endColumn > 0 ? { endColumn: message.endColumn } : {}),
    ...(message.severity === '' ? {} : { severity: message.severity }),
    ...(message.hint === '' ? {} : { hint: message.hint }),
  };
}
