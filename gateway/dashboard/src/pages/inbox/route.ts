// Inbox: the questions that wait for an answer.
import { createRoute } from '@tanstack/react-router';
import { anySearch } from '../../address/search.ts';
import { pagePart } from '../../frame/part.ts';
import { organizationRoute } from '../parents.tsx';

export const inboxRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: '/inbox',
  validateSearch: anySearch,
  component: pagePart(async () => (await import('./inbox-page.tsx')).InboxPage),
});
