// Usage: runs and times by method and day.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const usageRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/usage',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
});
