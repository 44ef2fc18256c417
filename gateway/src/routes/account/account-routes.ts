// The routes of an organization and its people.

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { type AccountRouteParts, described, Whoami } from './account-schemas.ts';
import { addAuditLog } from './audit-log.ts';
import { addKeys } from './keys.ts';
import { addMembers } from './members.ts';
import { addSettings } from './settings.ts';

/** For the scope `api`. */
export function addAccountRoutes(scope: FastifyInstance, parts: AccountRouteParts): void {
  addWhoami(scope, parts);
  addSettings(scope, parts);
  addMembers(scope, parts);
  addKeys(scope, parts);
  addAuditLog(scope, parts);
}

/** GET /api/whoami: returns the caller, so that a program can show the owner of its credential. */
function addWhoami(scope: FastifyInstance, { registryCalls }: AccountRouteParts): void {
  const schema = {
    ...described('whoami', 'Who asks'),
    querystring: NoQuery,
    response: replies({ 200: Whoami }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/api/whoami', { schema, config: { access: 'viewer' } }, async (request, reply) => {
      const caller = callerOf(request);
      if (caller.kind !== 'user') throw new ServiceError('unauthorized');
      const { orgId, userId, role, credential } = caller;
      const { member } = await registryCalls.accounts.getMember({ orgId, userId });
      if (member === undefined) throw new ServiceError('internal');
      reply.header('content-type', JSON_TYPE).header('cache-control', 'private, no-cache');
      return JSON.stringify({
        user: { id: userId, email: member.email, name: member.name },
        role,
        organization: { id: orgId, name: member.orgName },
        credential,
      });
    });
}
