// Production: the list of all runs of the organization, at its address without a path.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const productionRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./production-page.tsx'), 'ProductionPage'),
});
