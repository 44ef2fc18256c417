// `?limit=` and `?cursor=` of lists, and times in queries.

import { ServiceError } from '@methods/errors/service-error';
import type { preValidationHookHandler } from 'fastify';
import { Type } from 'typebox';

const LIMIT_MAX = 200;

export const PageFields = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: 'Default: 50.' })),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'next_cursor of the page before.' })),
};

// A query holds only texts, and the check of requests converts nothing.
export const readLimit: preValidationHookHandler = (request, _reply, done) => {
  const query = request.query as Record<string, unknown>;
  const text = query.limit;
  if (typeof text === 'string' && /^\d{1,9}$/.test(text)) query.limit = Number(text);
  done();
};

/** As the registry takes it; 0 means its default. */
export function pageRequest({ limit = 0, cursor = '' }: { limit?: number; cursor?: string }) {
  return { limit, cursor };
}

// Times in queries.

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** In ms; null: absent. @throws invalid_request */
export function queryTime<Field extends string>(
  query: { readonly [F in Field]?: string },
  field: Field,
): number | null {
  const text = query[field];
  if (text === undefined) return null;
  const ms = TIME.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  const message = `"${field}" has to be a time such as 2026-01-31T12:00:00.000Z.`;
  throw new ServiceError('invalid_request', message, { findings: [{ path: `/${field}`, code: 'time', message }] });
}
