// When the page has what it shows: what is not needed to read it is loaded after that.
import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

/** A page that waits longer has no use for the connection either. */
const WAITS_MS_MAX = 2_000;

/** Stays true from then on. For a parent of the page: the page's own calls have begun when its effects run. */
export function usePageIsRead(): boolean {
  const client = useQueryClient();
  const fetching = useIsFetching();
  const isIdle = useRouterState({ select: ({ status }) => status === 'idle' });
  const [isRead, setRead] = useState(false);
  useEffect(() => {
    if (isIdle && fetching === 0 && client.isFetching() === 0) setRead(true);
  }, [isIdle, fetching, client]);
  useEffect(() => {
    const timer = setTimeout(() => setRead(true), WAITS_MS_MAX);
    return () => clearTimeout(timer);
  }, []);
  return isRead;
}
