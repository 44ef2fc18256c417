// The routes of an organization and its people.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { AuditEntry } from '@methods/proto/registry/v1/account_pb';
import { canonicalHost } from '@methods/webhook-url/check-webhook-url';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { browserSessions } from '../../callers/browser-sessions.ts';
import { type Settings, settingsOf } from '../../clients/organization-settings.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { partyView, timeView } from '../../views/party-view.ts';
import { pageOf } from '../methods/method-schemas.ts';
import { pageRequest, queryTime, readLimit } from '../page-query.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import {
  type AccountRouteParts,
  AuditLine,
  AuditQuery,
  ChangeSettingsBody,
  described,
  Settings as SettingsShape,
  Whoami,
} from './account-schemas.ts';
import { addKeys } from './keys.ts';
import { addMembers } from './members.ts';

/** For the scope `api`. */
export function addAccountRoutes(scope: FastifyInstance, parts: AccountRouteParts): void {
  addWhoami(scope, parts);
  addSettings(scope, parts);
  addMembers(scope, parts);
  addKeys(scope, parts);
  addAuditLog(scope, parts);
}

/** GET /api/whoami: returns the caller, so that a program can show the owner of its credential. */
function addWhoami(scope: FastifyInstance, parts: AccountRouteParts): void {
  const { registryCalls } = parts;
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
        organizations: [
          { id: orgId, name: member.orgName },
          ...(credential === 'session' ? await otherOrganizations(parts, request, orgId) : []),
        ],
        credential,
      });
    });
}

/** Those that the browser is signed in to besides this one, the latest sign-in first. */
async function otherOrganizations(
  { accounts, registryCalls }: AccountRouteParts,
  request: FastifyRequest,
  orgId: OrgId,
) {
  const sessions = await browserSessions(accounts, request);
  const others = sessions.filter(({ member }) => member.orgId !== orgId);
  const found = await Promise.all(
    others.map(async ({ member: { orgId: id, userId } }) => {
      // What happens to a member of another organization is not in the way of this one.
      const { member } = await registryCalls.accounts
        .getMember({ orgId: id, userId })
        .catch(() => ({ member: undefined }));
      return member === undefined ? [] : [{ id, name: member.orgName }];
    }),
  );
  return found.flat();
}

// GET and PATCH /api/settings: the organization's settings for its runs and webhooks.
function addSettings(scope: FastifyInstance, { registryCalls, settings: known }: AccountRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { accounts } = registryCalls;
  const response = replies({ 200: SettingsShape });

  const read = { ...described('getSettings', 'Read the settings'), querystring: NoQuery, response };
  typed.get('/api/settings', { schema: read, config: { access: 'viewer' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    // Not cached: a person who has just changed them elsewhere expects to see the change.
    const { settings } = await accounts.getSettings({ orgId });
    reply.header('content-type', JSON_TYPE);
    return settingsJson(settingsOf(settings));
  });

  const change = {
    ...described('changeSettings', 'Change settings'),
    description: 'Omitted settings are unchanged. Changes apply to runs started from now on.',
    querystring: NoQuery,
    body: ChangeSettingsBody,
    response,
  };
  typed.patch('/api/settings', { schema: change, config: { access: 'admin' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const { content_on_devices: contentOnDevices, retention_days: retentionDays, webhook_hosts: hosts } = request.body;
    const { time_zone: timeZone } = request.body;
    const changed = await accounts.changeSettings({
      orgId,
      ...(contentOnDevices === undefined ? {} : { contentOnDevices }),
      ...(retentionDays === undefined ? {} : { retentionDays }),
      ...(hosts === undefined ? {} : { webhookHosts: { hosts: [...new Set(hosts.map(canonicalHost))] } }),
      ...(timeZone === undefined ? {} : { timeZone }),
      doer: doerOf(request),
    });
    const settings = settingsOf(changed.settings);
    known.changed(orgId, settings);
    reply.header('content-type', JSON_TYPE);
    return settingsJson(settings);
  });
}

function settingsJson({ contentOnDevices, retentionDays, webhookHosts, timeZone }: Settings): string {
  return JSON.stringify({
    content_on_devices: contentOnDevices,
    retention_days: retentionDays,
    webhook_hosts: webhookHosts,
    time_zone: timeZone,
  });
}

// GET /api/audit: who did what, when and from where.
function addAuditLog(scope: FastifyInstance, { registryCalls }: AccountRouteParts): void {
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
        afterMs: Math.max(queryTime(request.query, 'after') ?? 0, 0),
        // 0 would mean any time.
        beforeMs: request.query.before === undefined ? 0 : Math.max(queryTime(request.query, 'before') ?? 0, 1),
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
