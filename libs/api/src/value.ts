// The values that many replies have.
import type { JsonValue } from '@methods/method/json';
import { type Static, Type } from 'typebox';

/** RFC 3339 in UTC; null: it has not happened. */
export const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });
/** What only holders of the run's content key can read: an envelope, in base64url. */
export type Sealed = Static<typeof Sealed>;
export const Sealed = Type.Object(
  { $sealed: Type.String() },
  { description: 'An envelope of a run in device mode; opens with its content key.' },
);

export const AnyJson = Type.Unsafe<JsonValue>({});
