// Settings: the organization, its people and its keys.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const settingsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/settings',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./settings-page.tsx')).SettingsPage),
});
