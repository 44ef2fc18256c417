// The shapes that the routes of all resources share: no query, findings, and the replies that refuse a request.

import { ServiceError } from '@methods/errors/service-error';
import { type TSchema, Type } from 'typebox';

/** For routes that take no query, where a parameter would be ignored silently. */
export const NoQuery = Type.Object({}, { additionalProperties: false });

/** One of several findings; those of a method's source name their place in the text. */
export const Finding = Type.Object({
  path: Type.String(),
  code: Type.String(),
  message: Type.String(),
  severity: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['error', 'warning'] })),
  line: Type.Optional(Type.Integer({ description: 'From 1, as are columns.' })),
  column: Type.Optional(Type.Integer()),
  end_line: Type.Optional(Type.Integer()),
  end_column: Type.Optional(Type.Integer()),
  hint: Type.Optional(Type.String()),
});

const errorFields = {
  error: Type.String(),
  message: Type.Optional(Type.String()),
  details: Type.Optional(Type.Array(Finding)),
  request_id: Type.Optional(Type.String()),
};

const conflictFields = {
  status: Type.Optional(Type.String({ description: 'Of a run that is not in a state for this.' })),
  current_version: Type.Optional(Type.String({ description: 'With version_conflict; empty where there is none.' })),
  sequence: Type.Optional(Type.Integer({ description: 'With stale_sequence: that of the stored record.' })),
  offset: Type.Optional(Type.String({ description: 'With an upload: the bytes that are stored.' })),
};

const shareFields = {
  share: Type.Optional(
    Type.String({ description: 'With rate_limited: whose share is used up, `key` or `organization`.' }),
  ),
  limit: Type.Optional(Type.String({ description: 'With share: how many or how much it may have at a time.' })),
};

export const Refused = Type.Object(
  { ...errorFields, ...conflictFields, ...shareFields },
  {
    description:
      'Refused. A 401 contains only `unauthorized`. A 429 has Retry-After: the caller sends requests ' +
      'faster than it may, or its address has shown too many bad credentials.',
  },
);

const Failed = Type.Object(errorFields, {
  description: 'Failed on our side. A 503 comes with Retry-After; with an idempotency key a repeat is safe.',
});

/** The success replies of a route and the one shape of all refusals. */
export function replies(success: Readonly<Record<number, TSchema>>): Record<string, TSchema> {
  return { ...success, '4xx': Refused, '5xx': Failed };
}

// For changes that are described only by their path.

/** Accepts no body or `{}`: many clients cannot send a POST without a body. `what`: "A retry". */
export function refuseFields(body: unknown, what: string): void {
  if (body === undefined || body === null) return;
  if (typeof body === 'object' && Object.keys(body).length === 0) return;
  throw new ServiceError('invalid_request', `${what} has no fields.`);
}
