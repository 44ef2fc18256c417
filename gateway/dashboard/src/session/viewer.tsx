// The person who looks: who they are, what they may do, and where they sign in when they are no one.
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, use } from 'react';
import { got } from '../api/client.ts';
import { isFailure } from '../api/failure.ts';
import type { Viewer } from '../api/shapes.ts';
import { ApiContext, organizationApi } from '../api/use-api.ts';
import { NotMemberPage, SignInPage } from './sign-in-page.tsx';
import { viewerKey } from './viewer-key.ts';
import { WholePage } from './whole-page.tsx';

const ViewerContext = createContext<Viewer | null>(null);
const ROLES = ['viewer', 'member', 'admin'];

export function useViewer(): Viewer {
  const viewer = use(ViewerContext);
  if (viewer === null) throw new Error('useViewer outside of an organization');
  return viewer;
}

/** Whether the viewer has this role: what they may not do is not offered. The server refuses it in any case. */
export function useMay(role: 'member' | 'admin'): boolean {
  return ROLES.indexOf(useViewer().role) >= ROLES.indexOf(role);
}

/** Shows its children to a person of the organization, and to anyone else where to sign in. */
export function Organization({ org, children }: { readonly org: string; readonly children: ReactNode }) {
  const context = organizationApi(org);
  const viewer = useQuery({
    queryKey: viewerKey(org),
    queryFn: () => got(context.api.GET('/api/whoami')),
    // A role or a session may end meanwhile; a call that is refused asks at once.
    staleTime: 300_000,
  });
  if (isFailure(viewer.error, 'unauthorized')) return <SignInPage ended={viewer.data !== undefined} />;
  if (isFailure(viewer.error, 'forbidden')) return <NotMemberPage />;
  if (viewer.data === undefined) return <WholePage failure={viewer.error} onAgain={() => viewer.refetch()} />;
  return (
    <ApiContext value={context}>
      <ViewerContext value={viewer.data}>{children}</ViewerContext>
    </ApiContext>
  );
}
