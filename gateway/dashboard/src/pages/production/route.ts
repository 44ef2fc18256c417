// Production: the list of all runs of the organization, at its address without a path.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const productionRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./production-page.tsx')).ProductionPage),
});
