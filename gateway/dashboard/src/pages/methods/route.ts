// Methods: all methods of the organization, and how a new one begins.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const methodsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/methods',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./methods-page.tsx')).MethodsPage),
});
