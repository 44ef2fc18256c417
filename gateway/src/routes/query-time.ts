// Times in queries.
import { ServiceError } from '@methods/errors/service-error';

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
