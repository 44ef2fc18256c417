// Run: what happened in one run, and why.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const runRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/runs/$run',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./run-page.tsx')).RunPage),
});
