// The routes of an organization's questions.
import type { FastifyInstance } from 'fastify';
import { addQuestionRoutes } from './change-question.ts';
import type { InboxRouteParts } from './inbox-parts.ts';
import { addListInbox } from './list-inbox.ts';

/** For the scope `api`. */
export function addInboxRoutes(scope: FastifyInstance, parts: InboxRouteParts): void {
  addListInbox(scope, parts);
  addQuestionRoutes(scope, parts);
}
