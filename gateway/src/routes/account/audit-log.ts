// GET /api/audit: who did what, when and from where.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { AuditEntry } from '@methods/proto/registry/v1/account_pb';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { partyView, timeView } from '../../views/party-view.ts';
import { pageOf } from '../methods/method-schemas.ts';
import { pageRequest, readLimit } from '../page-query.ts';
import { replies } from '../reply-schemas.ts';
import { type AccountRouteParts, AuditLine, AuditQuery, described } from './account-schemas.ts';

export function addAuditLog(scope: FastifyInstance, { registryCalls }: AccountRouteParts): void {
  const schema = {
    ...described('listAudit', 'Read the audit log, newest first'),
    description:
      'Changes, sign-ins, what people read of runs and sources, and answers and cancels of people and programs. ' +
      'What service keys start and read is not listed: the key is the application that does it.',
    querystring: AuditQuery,
    response: replies({ 200: pageOf(AuditLine) }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get('/api/audit', { schema, config: { access: 'admin' }, preValidation: readLimit }, async (request, reply) => {
      const { orgId } = callerOf(request);
      const { action = '', target: targetId = '', by: doerId = '' } = request.query;
      const { entries, nextCursor } = await registryCalls.accounts.listAudit({
        ...{ orgId, action, targetId, doerId },
        ...pageRequest(request.query),
      });
      reply.header('content-type', JSON_TYPE);
      return JSON.stringify({ items: entries.map(lineView), next_cursor: nextCursor || null });
    });
}

function lineView(entry: AuditEntry) {
  return {
    id: entry.auditId,
    at: timeView(entry.atMs),
    by: partyView(entry.by),
    ip: entry.ip,
    request_id: entry.requestId,
    ...(entry.client !== '' && { client: entry.client }),
    action: entry.action,
    target: { kind: entry.targetKind, id: entry.targetId },
    before: facts(entry.beforeJson),
    after: facts(entry.afterJson),
  };
}

function facts(json: string): unknown {
  return json === '' ? null : JSON.parse(json);
}
