// Method: one method with its tabs, each at an address of its own.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const methodRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/methods/$method',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./method-page.tsx')).MethodPage),
});

export const methodTabRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/methods/$method/$tab',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./method-page.tsx')).MethodPage),
});
