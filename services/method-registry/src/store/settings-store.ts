// The store of organizations' settings.
import type { OrgId } from '@methods/base/ids';
import type { InjectionToken } from 'tsyringe';
import type { Settings, SettingsChange } from '../account/settings.ts';
import type { Doer } from '../audit/doer.ts';

export interface SettingsStore {
  /** Of an organization that set nothing: the defaults. @throws ServiceError not_found. */
  get(orgId: OrgId): Promise<Settings>;
  /** @throws ServiceError not_found. */
  change(orgId: OrgId, change: SettingsChange, doer: Doer): Promise<Settings>;
}
export const SettingsStore: InjectionToken<SettingsStore> = Symbol('SettingsStore');
