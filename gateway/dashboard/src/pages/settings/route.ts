// Settings: the organization, its people and its keys.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const settingsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/settings',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});
