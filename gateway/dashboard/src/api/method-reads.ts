// What the pages of a method read of it: the method, its versions and their sources.
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { got } from './client.ts';
import type { operations } from './gen/openapi.ts';
import { useApi } from './use-api.ts';

type Reply<Name extends 'getMethod' | 'listVersions' | 'getVersion'> =
  operations[Name]['responses'][200]['content']['application/json'];

export type WholeMethod = Reply<'getMethod'>;
export type Version = Reply<'listVersions'>['items'][number];
export type SourceVersion = Reply<'getVersion'>;

const PAGE = 50;

/** `method`: its bare id, or wf_…. */
export function useMethod(method: string) {
  const { org, api } = useApi();
  return useQuery({
    queryKey: [org, 'method', method],
    queryFn: ({ signal }) => got(api.GET('/api/methods/{id}', { params: { path: { id: method } }, signal })),
    meta: { staleOn: ['method', 'build'] },
  });
}

export function useVersions(method: string) {
  const { org, api } = useApi();
  return useInfiniteQuery({
    queryKey: [org, 'method', method, 'versions'],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE, ...(pageParam && { cursor: pageParam }) };
      return got(api.GET('/api/methods/{id}/versions', { params: { path: { id: method }, query }, signal }));
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    meta: { staleOn: ['method'] },
  });
}

/** A version never changes, but for its publication. Null: none. */
export function useVersion(method: string, versionId: string | null) {
  const { org, api } = useApi();
  return useQuery({
    queryKey: [org, 'method', method, 'version', versionId],
    queryFn: ({ signal }) =>
      got(
        api.GET('/api/methods/{id}/versions/{version_id}', {
          params: { path: { id: method, version_id: versionId ?? '' } },
          signal,
        }),
      ),
    enabled: versionId !== null,
    staleTime: 600_000,
    meta: { staleOn: ['method'] },
  });
}

/** Asks again for everything about methods, after a change of one. */
export function useMethodChanged(): () => Promise<void> {
  const { org } = useApi();
  const queryClient = useQueryClient();
  return useCallback(async () => {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: [org, 'method'] }),
      queryClient.invalidateQueries({ queryKey: [org, 'methods'] }),
    ]);
  }, [org, queryClient]);
}

/** A version in few characters. */
export function shortVersion(versionId: string): string {
  return `…${versionId.slice(-6)}`;
}
