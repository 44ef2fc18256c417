// The scheduler's database: its schema, and the connections of its readers.
import type { Logger } from '@methods/logging/logger';
import { ServiceDatabase } from '@methods/postgres/service-database';
import { pageSettings } from './planner-settings.ts';

const MIGRATIONS = new URL('../../migrations/', import.meta.url);

export function schedulerDatabase(url: string, applicationName: string, logger: Logger): ServiceDatabase {
  const settings = pageSettings;
  return new ServiceDatabase({ url, applicationName, schema: 'scheduler', migrations: MIGRATIONS, settings, logger });
}
