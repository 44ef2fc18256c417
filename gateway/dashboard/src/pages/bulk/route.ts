// Bulk act: the progress of an act on many runs.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const bulkRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/bulk/$bulk',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./bulk-page.tsx'), 'BulkPage'),
});
