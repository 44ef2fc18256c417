// The organization's settings, as several pages show them.
import { useQuery } from '@tanstack/react-query';
import { got } from '../api/client.ts';
import { useApi } from '../api/use-api.ts';

export function useSettings() {
  const { org, api } = useApi();
  return useQuery({
    queryKey: [org, 'settings'],
    queryFn: () => got(api.GET('/api/settings')),
    staleTime: 300_000,
  });
}
