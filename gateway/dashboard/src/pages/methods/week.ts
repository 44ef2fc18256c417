// The runs of each method on each of the last seven days.
import { useQuery } from '@tanstack/react-query';
import { got } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';

export interface DayRuns {
  readonly day: string;
  readonly runs: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface Week {
  /** False: there are more runs than were counted. */
  readonly isComplete: boolean;
  /** Oldest day first. */
  readonly runs: (productionId: string) => readonly DayRuns[];
}

const DAYS = 7;
const DAY_MS = 86_400_000;
/** Each counts 5,000 runs. */
const PAGES_MAX = 4;

export function useWeek() {
  const { org, api } = useApi();
  return useQuery({
    queryKey: [org, 'methods', 'week'],
    async queryFn({ signal }): Promise<Week> {
      const found = new Map<string, DayRuns>();
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_MAX; page++) {
        const query: { cursor?: string } = cursor === null ? {} : { cursor };
        const { items, next_cursor } = await got(api.GET('/api/usage', { params: { query }, signal }));
        for (const { method, day, runs, succeeded, failed } of items) {
          const key = `${method} ${day}`;
          const before = found.get(key) ?? { day, runs: 0, succeeded: 0, failed: 0 };
          found.set(key, {
            day,
            runs: before.runs + runs,
            succeeded: before.succeeded + succeeded,
            failed: before.failed + failed,
          });
        }
        cursor = next_cursor;
        if (cursor === null) break;
      }
      const days = lastDays(Date.now());
      return {
        isComplete: cursor === null,
        runs: (method) => days.map((day) => found.get(`${method} ${day}`) ?? { day, runs: 0, succeeded: 0, failed: 0 }),
      };
    },
    staleTime: 60_000,
    meta: { staleOn: ['run'], everyMs: 60_000 },
  });
}

/** In UTC, as the usage counts them. */
function lastDays(nowMs: number): string[] {
  return Array.from({ length: DAYS }, (_, back) =>
    new Date(nowMs - (DAYS - 1 - back) * DAY_MS).toISOString().slice(0, 10),
  );
}
