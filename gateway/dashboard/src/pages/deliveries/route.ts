// Deliveries: each webhook, chat and mail delivery with its tries.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const deliveriesRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/deliveries',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./deliveries-page.tsx')).DeliveriesPage),
});
