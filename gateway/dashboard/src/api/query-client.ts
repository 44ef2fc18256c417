// How replies are kept: events keep them fresh, so nothing is asked again by a timer.
import { QueryClient } from '@tanstack/react-query';
import { isFailure } from './failure.ts';

const RETRIES_MAX = 2;
const FRESH_MS = 30_000;
const KEPT_MS = 300_000;

export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        gcTime: KEPT_MS,
        refetchOnWindowFocus: false,
        // A refusal stays one; a server that is unavailable comes back.
        retry: (count, error) => count < RETRIES_MAX && isFailure(error) && (error.status === 0 || error.status >= 500),
      },
      mutations: { retry: false },
    },
  });
}
