// The router: every page of the registry below its organization, and the address in plain words.
import { createRouter } from '@tanstack/react-router';
import { parseSearch, stringifySearch } from './address/search.ts';
import { NotFoundPage } from './frame/not-found-page.tsx';
import { PageFailure } from './frame/page-failure.tsx';
import { pages } from './pages/all-pages.ts';
import { firstOrganizationRoute, organizationRoute, rootRoute, unknownPageRoute } from './pages/parents.tsx';

export function newRouter() {
  return createRouter({
    routeTree: rootRoute.addChildren([
      organizationRoute.addChildren([...pages, unknownPageRoute]),
      firstOrganizationRoute,
    ]),
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPreloadDelay: 50,
    defaultNotFoundComponent: NotFoundPage,
    defaultErrorComponent: PageFailure,
    defaultPendingMs: 300,
    scrollRestoration: true,
  });
}
