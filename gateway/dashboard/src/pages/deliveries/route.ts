// Deliveries: each webhook, chat and mail delivery with its tries.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const deliveriesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/deliveries',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
});
