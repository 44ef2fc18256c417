// GetSettings and ChangeSettings: what an organization has set for its runs and webhooks.
import type { ChangeSettingsRequest, GetSettingsRequest } from '@methods/proto/registry/v1/account_service_pb';
import { inject, injectable } from 'tsyringe';
import { settingsChange } from '../account/settings.ts';
import { RegistryChanges } from '../bus/registry-changes.ts';
import { SettingsStore } from '../store/settings-store.ts';
import { settingsMessage } from './account-message.ts';
import { doerOf } from './request-doer.ts';
import { orgIdOf } from './request-ids.ts';

@injectable()
export class OrganizationSettings {
  constructor(
    @inject(SettingsStore) private readonly settings: SettingsStore,
    @inject(RegistryChanges) private readonly changes: RegistryChanges,
  ) {}

  async get(request: GetSettingsRequest) {
    return { settings: settingsMessage(await this.settings.get(orgIdOf(request.orgId))) };
  }

  /** Emitted at a repeat too: the first message may have been lost. */
  async change(request: ChangeSettingsRequest) {
    const orgId = orgIdOf(request.orgId);
    const doer = doerOf(request.doer);
    const change = settingsChange({
      contentOnDevices: request.contentOnDevices ?? null,
      retentionDays: request.retentionDays ?? null,
      webhookHosts: request.webhookHosts?.hosts ?? null,
      timeZone: request.timeZone ?? null,
    });
    const settings = await this.settings.change(orgId, change, doer);
    this.changes.settingsChanged(orgId);
    return { settings: settingsMessage(settings) };
  }
}
