// The scope of one surface: its routes have callers, each within its rate and with a role that may use the route.
import { fastifyCookie } from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import { challengeOf } from '../callers/caller-refused.ts';
import type { FindCaller } from '../callers/find-caller.ts';
import type { GuardedSurface } from '../callers/surface.ts';
import { addCaller, type RefusedCredentials } from './caller.ts';
import { addAccess } from './caller-access.ts';
import { addLargeBodies, addSlowBody, type LargeBodies } from './large-bodies.ts';
import { addOrganizationTurns, type OrganizationTurns } from './organization-turns.ts';
import { addRateLimit, type RateLimit } from './rate-limit.ts';
import { addUnreadReplies, type UnreadReplies } from './unread-replies.ts';

export interface CallerScopeParts {
  readonly findCaller: FindCaller;
  /** Shared by all surfaces. */
  readonly turns: OrganizationTurns;
  /** Shared by all surfaces; null: no limit. */
  readonly limit: RateLimit | null;
  /** Shared by all surfaces; null: no limit. */
  readonly refusedCredentials: RefusedCredentials | null;
  /** Shared by all surfaces. */
  readonly largeBodies: LargeBodies;
  /** Shared by all surfaces. */
  readonly unreadReplies: UnreadReplies;
  readonly mcpUrl: string | null;
  /** Bodies of the scope may take long to arrive, and are never read whole. */
  readonly slowBodies?: boolean;
}

export async function addCallerScope(
  app: FastifyInstance,
  surface: GuardedSurface,
  {
    findCaller,
    turns,
    limit,
    refusedCredentials,
    largeBodies,
    unreadReplies,
    mcpUrl,
    slowBodies = false,
  }: CallerScopeParts,
  addRoutes: (scope: FastifyInstance) => void,
): Promise<void> {
  await app.register(async (scope) => {
    if (surface === 'api') await scope.register(fastifyCookie);
    addCaller(scope, surface, { findCaller, challenge: challengeOf(surface, mcpUrl), refusedCredentials });
    addOrganizationTurns(scope, turns);
    addRateLimit(scope, limit);
    addUnreadReplies(scope, unreadReplies);
    if (surface === 'upload' || slowBodies) addSlowBody(scope);
    else addLargeBodies(scope, largeBodies);
    addAccess(scope, surface);
    addRoutes(scope);
  });
}
