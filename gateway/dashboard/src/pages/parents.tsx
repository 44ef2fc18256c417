// The parents of all pages: the root, and an organization with its frame.
import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { Frame } from '../frame/frame.tsx';
import { NotFoundPage } from '../frame/not-found-page.tsx';
import { LiveEvents } from '../live/live-events.tsx';
import { FirstOrganization } from '../session/first-organization.tsx';
import { Organization } from '../session/viewer.tsx';
import { ZonesOfPage } from '../time/zone.tsx';

export const rootRoute = createRootRoute({ component: Outlet });

/** Each page is a child of this one: its path begins with /o/<organization>. */
export const organizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/o/$org',
  component: OrganizationPages,
  notFoundComponent: NotFoundPage,
});

/** Of the organization too: the next route would take these addresses for ones without an organization. */
export const unknownPageRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/$',
  component: NotFoundPage,
});

export const firstOrganizationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$',
  component: FirstOrganization,
});

function OrganizationPages() {
  const { org } = organizationRoute.useParams();
  return (
    <Organization org={org} key={org}>
      <LiveEvents>
        <ZonesOfPage>
          <Frame>
            <Outlet />
          </Frame>
        </ZonesOfPage>
      </LiveEvents>
    </Organization>
  );
}
