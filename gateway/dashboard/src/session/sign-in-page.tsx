// The pages of a person who is not signed in, or not to this organization.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { apiOf, got } from '../api/client.ts';
import { OrganizationList } from './organization-list.tsx';
import { signInAddress } from './sign-in-address.ts';
import { WholePage } from './whole-page.tsx';

/** `ended`: they were signed in a moment ago. */
export function SignInPage({ ended = false }: { readonly ended?: boolean }) {
  const server = useQuery({ queryKey: ['server'], queryFn: () => got(apiOf(null).GET('/.well-known/methods')) });
  if (server.data?.issuer === null) {
    return (
      <WholePage title="No sign-in">
        <p>
          This server has no identity provider, so people cannot sign in. Set <code>OIDC_ISSUER</code> at its gateway.
        </p>
      </WholePage>
    );
  }
  return (
    <WholePage title={ended ? 'Your session has ended' : 'Sign in to Methods'}>
      <p>
        {ended
          ? 'Sign in again to continue where you are.'
          : 'Runs, questions and methods of your organization are here.'}
      </p>
      <Button component="a" href={signInAddress()} size="md" autoFocus>
        Sign in
      </Button>
    </WholePage>
  );
}

export function NotMemberPage() {
  return (
    <WholePage title="This is another organization’s page">
      <p>You are not signed in to the organization in this address. Sign in to it, or go to one of yours.</p>
      <Button component="a" href={signInAddress({ another: true })} size="md">
        Sign in to another organization
      </Button>
      <OrganizationList />
    </WholePage>
  );
}
