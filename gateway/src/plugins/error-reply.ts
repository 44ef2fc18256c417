// The only place where an error becomes a reply: our errors as documented, the framework's errors translated, and any
// other as `internal`, with its cause only in the log.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody } from '@methods/errors/error-body';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BODY_BYTES_MAX, takesBytes } from './json-body.ts';
import { hasSlowBody } from './large-bodies.ts';
import { newRequestId } from './request-log.ts';
import { schemaFinding } from './schema-fault.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error in the reply, for the log. */
    errorCode: string | null;
  }
}

export const NO_MEDIA_TYPE = 'The header content-type is not a media type, such as application/pdf.';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The body of a refusal as a surface writes it; status and headers are the same on all. */
type ErrorForm = (error: ServiceError, body: object) => object;

const OWN_FORM: ErrorForm = (_error, body) => body;

export function addErrorReply(app: FastifyInstance, logger: Logger): void {
  app.decorateRequest('errorCode', null);
  replyErrors(app, logger, OWN_FORM);
  app.setNotFoundHandler((request, reply) => sendError(new ServiceError('not_found'), request, reply));
}

/** For the routes of `scope`. */
export function replyErrors(scope: FastifyInstance, logger: Logger, form: ErrorForm): void {
  scope.setErrorHandler((error: FastifyError, request, reply) => {
    const bodies = { bytesMax: request.routeOptions.bodyLimit, areBytes: takesBytes(request.server) };
    const known = serviceErrorOf(error, bodies);
    if (known.code === 'internal') {
      logger.error({ request_id: request.id, error: known.cause ?? error }, 'a request failed');
    }
    return sendError(known, request, reply, form);
  });
}

function sendError(
  error: ServiceError,
  request: FastifyRequest,
  reply: FastifyReply,
  form: ErrorForm = OWN_FORM,
): FastifyReply {
  request.errorCode = error.code;
  const { status, headers, body } = errorBody(error, request.id);
  // Where a surface has set its own challenge, that one is used.
  if (reply.hasHeader('www-authenticate')) delete headers['www-authenticate'];
  return reply
    .code(status)
    .headers(headers)
    .header('content-type', JSON_TYPE)
    .send(JSON.stringify(form(error, body)));
}

/** Handles errors before any route or hook, such as a path that cannot be decoded. */
export function replyToFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  sendError(serviceErrorOf(error), request, reply.header('x-request-id', request.id));
}

/**
 * Handles bytes that are not an HTTP request, and a request that takes too long to arrive: there is no request object
 * yet.
 */
export function replyToClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && hasSlowBody(socket)) return;
  // The client no longer reads, or an answer is already being sent. Node's own handler checks the same field.
  const { _httpMessage: response } = socket as { _httpMessage?: { headersSent: boolean } };
  if (error.code === 'ECONNRESET' || !socket.writable || response?.headersSent) {
    socket.destroy();
    return;
  }
  const requestId = newRequestId();
  const refused = new ServiceError('invalid_request', clientErrorMessage(error.code));
  const body = JSON.stringify(errorBody(refused, requestId).body);
  const status = clientErrorStatus(error.code);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: ${JSON_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${requestId}\r\n\r\n${body}`,
  );
}

function clientErrorStatus(code: string | undefined): number {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408;
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
}

function clientErrorMessage(code: string | undefined): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request took too long to arrive.';
  return code === 'HPE_HEADER_OVERFLOW' ? 'The headers are too large.' : 'The request is not valid HTTP.';
}

/** The limits of the route that an error comes from. */
interface RouteBodies {
  readonly bytesMax?: number | undefined;
  readonly areBytes?: boolean;
}

/** Converts an error to the one that a reply shows. */
export function serviceErrorOf(
  error: FastifyError,
  { bytesMax = BODY_BYTES_MAX, areBytes = false }: RouteBodies = {},
): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error.validation?.[0]) {
    const finding = schemaFinding(error.validation[0], error.validationContext ?? 'body');
    return new ServiceError('invalid_request', finding.message, { findings: [finding] });
  }
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge('', 'body_bytes', `A request body has at most ${bytesMax} bytes.`);
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ServiceError('not_found');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return areBytes
        ? badHeader('content_type', NO_MEDIA_TYPE)
        : new ServiceError('invalid_request', 'The body has to be JSON, with content-type: application/json.');
    default:
      if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
        return new ServiceError('invalid_request', undefined, { cause: error });
      }
      return asServiceError(error);
  }
}

/** @param code the fault of the header. */
export function badHeader(code: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { findings: [{ path: '', code, message }] });
}

/** @param limit the limit's name. */
export function tooLarge(path: string, limit: string, message: string): ServiceError {
  return new ServiceError('too_large', message, { findings: [{ path, code: limit, message }] });
}
