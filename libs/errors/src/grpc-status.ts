// Converts a ServiceError to a gRPC status with an ErrorDetail in a binary trailer, and back.
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { Metadata, status } from '@grpc/grpc-js';
import { type ErrorDetail, ErrorDetailSchema } from '@methods/proto/error/v1/error_detail_pb';
import { catalog, type ErrorCode } from './catalog.ts';
import { fromErrorDetail, toErrorDetail } from './error-detail.ts';
import { asServiceError, ServiceError } from './service-error.ts';

const TRAILER = 'methods-error-bin';

// Trailers are HTTP/2 headers: a peer may drop the whole connection over a block beyond 64 KiB. Base64 adds a third.
const DETAIL_BYTES_MAX = 24 * 1024;
const MESSAGE_CHARACTERS_MAX = 2_000;

export interface GrpcError {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** Never fails. Findings that would make the trailer too large are omitted from the end. */
export function toGrpcError(error: unknown): GrpcError {
  const known = asServiceError(error);
  const metadata = new Metadata();
  metadata.set(TRAILER, detailBytes(toErrorDetail(known)));
  // The sentence is in the trailer; the status line carries only the code, which needs no escaping.
  return { code: status[catalog[known.code].grpc], details: known.code, metadata };
}

/**
 * Returns the error of a failed call. Without our trailer the status decides: an unavailable or slow peer becomes
 * `unavailable`, and so does a cancelled call.
 */
export function fromGrpcError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (!isGrpcError(error)) return new ServiceError('internal', undefined, { cause: error });
  const trailer = error.metadata?.get(TRAILER)[0];
  if (Buffer.isBuffer(trailer)) {
    try {
      return fromErrorDetail(fromBinary(ErrorDetailSchema, trailer));
    } catch {
      // An unreadable trailer counts as missing.
    }
  }
  return new ServiceError(codeOfStatus(error.code), undefined, { cause: error });
}

function codeOfStatus(code: status): ErrorCode {
  switch (code) {
    case status.UNAVAILABLE:
    case status.DEADLINE_EXCEEDED:
    case status.CANCELLED:
      return 'unavailable';
    case status.RESOURCE_EXHAUSTED:
      return 'too_large';
    case status.UNAUTHENTICATED:
      return 'unauthorized';
    default:
      return 'internal';
  }
}

function detailBytes(detail: ErrorDetail): Buffer {
  detail.message = detail.message.slice(0, MESSAGE_CHARACTERS_MAX);
  let bytes = toBinary(ErrorDetailSchema, detail);
  while (bytes.length > DETAIL_BYTES_MAX && detail.findings.length > 0) {
    detail.findings.length = Math.floor(detail.findings.length / 2);
    bytes = toBinary(ErrorDetailSchema, detail);
  }
  if (bytes.length > DETAIL_BYTES_MAX) {
    detail.facts = {};
    bytes = toBinary(ErrorDetailSchema, detail);
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isGrpcError(error: unknown): error is { code: status; metadata?: Metadata } {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number';
}
