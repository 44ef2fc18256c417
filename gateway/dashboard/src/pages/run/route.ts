// Run: what happened in one run, and why.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const runRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/runs/$run',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
});
