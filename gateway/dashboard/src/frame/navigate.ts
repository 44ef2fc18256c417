// Goes to a page of the same organization, and changes the query of the present one.
import { useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { Search } from '../address/search.ts';
import { pathOf } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';

/** `to`: a path below the organization. */
export function useGo(): (to: string, search?: Search) => void {
  const navigate = useNavigate();
  const { org } = useApi();
  return useCallback((to, search = {}) => void navigate({ to: pathOf(org) + to, search } as object), [navigate, org]);
}

/** The page's query, and how to change parts of it: an empty value removes its name. */
export function useSearchState(): [Search, (change: Readonly<Record<string, string | null>>, push?: boolean) => void] {
  const navigate = useNavigate();
  const search = useRouterState({ select: (state) => state.location.search }) as Search;
  const change = useCallback(
    (changed: Readonly<Record<string, string | null>>, push = true) => {
      const next = (before: Search) => ({ ...before, ...changed });
      void navigate({ to: '.', search: next, replace: !push } as object);
    },
    [navigate],
  );
  return [search, change];
}

/** A value of the page's path, like `run` of `/runs/$run`. */
export function usePathValue(name: string): string {
  const values = useParams({ strict: false }) as Readonly<Record<string, string | undefined>>;
  return values[name] ?? '';
}
