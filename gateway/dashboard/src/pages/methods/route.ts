// Methods: all methods of the organization, and how a new one begins.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const methodsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/methods',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./methods-page.tsx'), 'MethodsPage'),
});
