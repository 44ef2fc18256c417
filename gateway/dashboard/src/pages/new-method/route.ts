// New method: blank, from an example, from a recording, or by pasting.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const newMethodRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/methods/new',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./new-method-page.tsx'), 'NewMethodPage'),
});
