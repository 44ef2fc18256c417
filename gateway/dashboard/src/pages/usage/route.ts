// Usage: runs and times by method and day.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const usageRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/usage',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./usage-page.tsx')).UsagePage),
});
