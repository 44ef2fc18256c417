// Workers: who is connected, and which queues wait.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const workersRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/workers',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./workers-page.tsx'), 'WorkersPage'),
});
