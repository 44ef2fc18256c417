// The routes around an organization and the people in it.
import type { FastifyInstance } from 'fastify';
import type { AccountRouteParts } from './account-parts.ts';
import { addAuditLog } from './audit-log.ts';
import { addKeys } from './keys.ts';
import { addMembers } from './members.ts';
import { addSettings } from './settings.ts';
import { addWhoami } from './whoami.ts';

/** In the scope `api`. */
export function addAccountRoutes(scope: FastifyInstance, parts: AccountRouteParts): void {
  addWhoami(scope, parts);
  addSettings(scope, parts);
  addMembers(scope, parts);
  addKeys(scope, parts);
  addAuditLog(scope, parts);
}
