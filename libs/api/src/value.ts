// The values that many replies have.
import type { JsonValue } from '@methods/method/json';
import { Type } from 'typebox';

/** RFC 3339 in UTC; null: it has not happened. */
export const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
export const AnyJson = Type.Unsafe<JsonValue>({});
