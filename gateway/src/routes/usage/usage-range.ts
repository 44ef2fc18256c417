// The days that usage is asked for, shared by its list and its file.
import type { Clock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { Type } from 'typebox';
import type { ReadCalls } from '../../clients/read-calls.ts';
import type { RegistryCalls } from '../../clients/registry-calls.ts';
import { PageFields } from '../page-query.ts';

export interface UsageRouteParts {
  readonly reads: ReadCalls;
  readonly registryCalls: RegistryCalls;
  readonly clock: Clock;
}

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 7;
const DAYS_MAX = 366;
const Day = (description: string) => Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description }));

export const UsageQuery = Type.Object(
  {
    from: Day('The first day in UTC, such as 2026-11-01. Default: 6 days before `to`.'),
    to: Day('The last day; at most a year after the first. Default: today.'),
    method: Type.Optional(Type.String({ maxLength: 64, description: 'A method id. Default: all methods.' })),
    cursor: PageFields.cursor,
  },
  { additionalProperties: false },
);

/** @throws ServiceError invalid_request */
export function rangeOf(from: string | undefined, to: string | undefined, nowMs: number) {
  const lastMs = to === undefined ? Math.floor(nowMs / DAY_MS) * DAY_MS : dayMs('to', to);
  const fromMs = from === undefined ? lastMs - (DAYS_DEFAULT - 1) * DAY_MS : dayMs('from', from);
  const days = (lastMs - fromMs) / DAY_MS + 1;
  if (days < 1 || days > DAYS_MAX) throw refused('from', `from is at most ${DAYS_MAX - 1} days before to.`);
  return { fromMs, beforeMs: lastMs + DAY_MS };
}

function dayMs(field: string, text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text)) return ms;
  throw refused(field, `${field} is a day such as 2026-11-01.`);
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { findings: [{ path: `/${field}`, code: field, message }] });
}
