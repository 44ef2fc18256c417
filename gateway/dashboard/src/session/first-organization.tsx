// An address without an organization, like / or a link in a mail: continues in the latest one the person signed in to.
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { apiOf, got, pathOf } from '../api/client.ts';
import { isFailure } from '../api/failure.ts';
import { SignInPage } from './sign-in-page.tsx';
import { WholePage } from './whole-page.tsx';

export function FirstOrganization() {
  const router = useRouter();
  // While it changes, the router's own address is the next one already.
  const [address] = useState(() => window.location.pathname + window.location.search);
  const viewer = useQuery({ queryKey: ['viewer'], queryFn: () => got(apiOf(null).GET('/api/whoami')) });
  const org = viewer.data?.organization.id;
  useEffect(() => {
    if (org !== undefined) router.history.replace(pathOf(org) + address);
  }, [org, address, router]);
  if (isFailure(viewer.error, 'unauthorized')) return <SignInPage />;
  return <WholePage failure={viewer.error} onAgain={() => viewer.refetch()} />;
}
