// The parts of all pages beside one another, only in development.
import { createRoute } from '@tanstack/react-router';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const designRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/design',
  component: pagePart(async () => (await import('./design-page.tsx')).DesignPage),
});
