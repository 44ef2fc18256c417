// Inbox: the questions that wait for an answer.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { organizationRoute } from '../parents.tsx';

export const inboxRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/inbox',
  validateSearch: anySearch,
  component: lazyRouteComponent(() => import('./inbox-page.tsx'), 'InboxPage'),
});
