// The members of the organization, for whose a question is and may become.
import { useQuery } from '@tanstack/react-query';
import { got } from '../api/client.ts';
import type { operations } from '../api/gen/openapi.ts';
import { useApi } from '../api/use-api.ts';

export type Member = operations['listMembers']['responses'][200]['content']['application/json']['items'][number];

const PAGE = 200;
/** 1,000 members; others are named by their address. */
const PAGES_MAX = 5;

export function useMembers() {
  const { org, api } = useApi();
  return useQuery({
    queryKey: [org, 'members', 'all'],
    async queryFn({ signal }) {
      const found: Member[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_MAX; page++) {
        const query: { limit: number; cursor?: string } = { limit: PAGE, ...(cursor !== null && { cursor }) };
        const { items, next_cursor } = await got(api.GET('/api/members', { params: { query }, signal }));
        found.push(...items);
        cursor = next_cursor;
        if (cursor === null) break;
      }
      return found;
    },
    staleTime: 300_000,
  });
}

/** Of usr_…; an address names itself. */
export function useMemberName(): (id: string) => string {
  const { data } = useMembers();
  return (id) => {
    const found = data?.find((each) => each.id === id);
    return found === undefined ? id : found.name || found.email || id;
  };
}
