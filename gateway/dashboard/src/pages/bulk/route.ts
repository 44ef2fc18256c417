// Bulk act: the progress of an act on many runs.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const bulkRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/bulk/$bulk',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./bulk-page.tsx')).BulkPage),
});
