// The parts of all pages beside one another, only in development.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { organizationRoute } from '../parents.tsx';

export const designRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/design',
  component: lazyRouteComponent(() => import('./design-page.tsx'), 'DesignPage'),
});
