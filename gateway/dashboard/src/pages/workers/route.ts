// Workers: who is connected, and which queues wait.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const workersRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/workers',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./workers-page.tsx')).WorkersPage),
});
