// `?limit=` and `?cursor=` of lists.
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

/** As the registry takes it; 0 is its default. */
export function pageRequest({ limit = 0, cursor = '' }: { limit?: number; cursor?: string }) {
  return { limit, cursor };
}
