// New method: blank, from an example, from a recording, or by pasting.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const newMethodRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/methods/new',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./new-method-page.tsx')).NewMethodPage),
});
