// How replies are kept: events keep them fresh, so nothing is asked again by a timer.
import { MutationCache, type Query, QueryCache, QueryClient } from '@tanstack/react-query';
import { isFailure } from './failure.ts';

const RETRIES_MAX = 2;
const FRESH_MS = 30_000;
const KEPT_MS = 300_000;

export function newQueryClient(): QueryClient {
  const isViewer = ({ queryKey }: Pick<Query, 'queryKey'>) => queryKey.at(-1) === 'viewer';
  // A call that is refused because no one is signed in shows that the session has ended: who looks is asked again.
  const onError = (error: Error, query?: Pick<Query, 'queryKey'>) => {
    if (!isFailure(error, 'unauthorized') || (query !== undefined && isViewer(query))) return;
    void client.invalidateQueries({ predicate: isViewer });
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError: (error) => onError(error) }),
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
  return client;
}
