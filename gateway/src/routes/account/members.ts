// GET /api/members, PATCH and DELETE /api/members/:id: list the members of the organization, change their roles and end
// their access.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { isId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { Member } from '@methods/proto/registry/v1/account_pb';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { timeView } from '../../views/party-view.ts';
import { pageOf } from '../methods/method-schemas.ts';
import { pageRequest, readLimit } from '../page-query.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import {
  type AccountRouteParts,
  ChangeMemberBody,
  described,
  ListQuery,
  MemberParams,
  Member as MemberShape,
} from './account-schemas.ts';

export function addMembers(scope: FastifyInstance, { registryCalls, accounts: known }: AccountRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { accounts } = registryCalls;

  const list = {
    ...described('listMembers', 'List members, newest first'),
    querystring: ListQuery,
    response: replies({ 200: pageOf(MemberShape) }),
  };
  const listing = { schema: list, config: { access: 'viewer' }, preValidation: readLimit } as const;
  typed.get('/api/members', listing, async (request, reply) => {
    const { orgId } = callerOf(request);
    const { members, nextCursor } = await accounts.listMembers({ orgId, ...pageRequest(request.query) });
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ items: members.map(memberView), next_cursor: nextCursor || null });
  });

  const change = {
    ...described('changeMember', "Change a member's role"),
    description: 'From then on it overrides the role the issuer claims. The last admin stays one.',
    params: MemberParams,
    querystring: NoQuery,
    body: ChangeMemberBody,
    response: replies({ 200: MemberShape }),
  };
  typed.patch('/api/members/:id', { schema: change, config: { access: 'admin' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const { id: userId } = request.params;
    if (!isId('usr', userId)) throw new ServiceError('not_found', 'There is no such member.');
    const { role } = request.body;
    const { member } = await accounts.setMemberRole({ orgId, userId, role, doer: doerOf(request) });
    known.memberChanged(orgId, userId);
    if (member === undefined) throw new ServiceError('internal');
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify(memberView(member));
  });

  const disable = {
    ...described('disableMember', "End a member's access"),
    description:
      'Their sessions, tokens, links and streams end within 30 seconds, and no later token restores them. The last ' +
      'admin stays one. A repeat changes nothing.',
    params: MemberParams,
    querystring: NoQuery,
    response: replies({ 200: MemberShape }),
  };
  typed.delete('/api/members/:id', { schema: disable, config: { access: 'admin' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const { id: userId } = request.params;
    if (!isId('usr', userId)) throw new ServiceError('not_found', 'There is no such member.');
    const { member } = await accounts.disableMember({ orgId, userId, doer: doerOf(request) });
    known.memberChanged(orgId, userId);
    if (member === undefined) throw new ServiceError('internal');
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify(memberView(member));
  });
}

function memberView(member: Member) {
  return {
    id: member.userId,
    email: member.email,
    email_verified: member.emailVerified,
    name: member.name,
    role: member.role,
    created_at: timeView(member.createdAtMs),
    last_seen_at: timeView(member.lastSeenAtMs),
    disabled_at: member.disabledAtMs === 0 ? null : timeView(member.disabledAtMs),
  };
}
