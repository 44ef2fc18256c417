// GET and PATCH /api/settings: the organization's settings for its runs and webhooks.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { canonicalHost } from '@methods/webhook-url/check-webhook-url';
import type { FastifyInstance } from 'fastify';
import { type Settings, settingsOf } from '../../clients/organization-settings.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { type AccountRouteParts, ChangeSettingsBody, described, Settings as SettingsShape } from './account-schemas.ts';

export function addSettings(scope: FastifyInstance, { registryCalls, settings: known }: AccountRouteParts): void {
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
