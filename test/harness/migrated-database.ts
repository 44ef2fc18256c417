// Gives out databases with the newest schemas of services: copies of a template that is migrated once per server, even
// if many processes ask. A copy costs a tenth of the migrations.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { migrate } from '@methods/postgres/migrate';
import { openPool, type Sql } from '@methods/postgres/pool';
import { createDatabase, dropDatabase } from './database.ts';
import { type FreshDatabase, freshDatabase, testPostgres } from './postgres.ts';
import { until } from './until.ts';

const SERVICES = new URL('../../services/', import.meta.url);
/** Keyed by the folder of the service. */
const SCHEMAS = { 'method-registry': 'registry', notifier: 'notifier', 'run-scheduler': 'scheduler' } as const;
/** Enough for a busy machine. */
const WAIT_MS = 600_000;

export type ServiceWithSchema = keyof typeof SCHEMAS;

const templates = new Map<string, Promise<string>>();

/** A database of the caller's own; without `services`, it has the schemas of all. */
export async function migratedDatabase(...services: readonly ServiceWithSchema[]): Promise<FreshDatabase> {
  if (services.length === 0) return migratedDatabase(...(Object.keys(SCHEMAS) as ServiceWithSchema[]));
  const { url } = await testPostgres();
  const named = services.join();
  const template = templates.get(named) ?? ensureTemplate(url, services);
  templates.set(named, template);
  return freshDatabase(url, await template);
}

async function ensureTemplate(url: string, services: readonly ServiceWithSchema[]): Promise<string> {
  const name = `migrated_${digestOf(services)}`;
  const admin = openPool({ url, applicationName: 'template', max: 1, statementTimeoutMs: 0, connectTimeoutMs: 60_000 });
  try {
    // Held by the session: two processes that migrate one template would meet each other's unfinished half.
    await admin`select pg_advisory_lock(hashtext(${name}))`;
    const [there] = await admin`select 1 from pg_database where datname = ${name}`;
    if (there === undefined) await makeTemplate(url, admin, name, services);
  } finally {
    await admin.end({ timeout: 5 });
  }
  return name;
}

/** Renamed only once it is complete: the half-made one of a killed process is never copied. */
async function makeTemplate(
  url: string,
  admin: Sql,
  name: string,
  services: readonly ServiceWithSchema[],
): Promise<void> {
  const partial = `${name}_partial`;
  await dropDatabase(url, partial);
  const partialUrl = await createDatabase(url, partial);
  for (const service of services) {
    await migrate(partialUrl, { schema: SCHEMAS[service], folder: new URL(`${service}/migrations/`, SERVICES) });
  }
  // A server process ends some time after its client, and a database in use can be neither renamed nor copied.
  await until(
    'the migrations have left their database',
    async () => (await admin`select 1 from pg_stat_activity where datname = ${partial}`).length === 0,
    WAIT_MS,
  );
  await admin`alter database ${admin(partial)} rename to ${admin(name)}`;
}

function digestOf(services: readonly ServiceWithSchema[]): string {
  const digest = createHash('sha256');
  for (const service of services) {
    const folder = new URL(`${service}/migrations/`, SERVICES);
    for (const file of readdirSync(folder).sort()) digest.update(file).update(readFileSync(new URL(file, folder)));
  }
  return digest.digest('hex').slice(0, 16);
}
