// All services' schemas in one database, owned by a user as a service should have it: no superuser, who may make no
// roles and was given the reader roles by an administrator. Row-level security would not hold for a superuser.
import { randomBytes } from 'node:crypto';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { migrate } from '@methods/postgres/migrate';
import { ensureReaderRole, OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { openPool, type Sql } from '@methods/postgres/pool';
import { testPostgres } from '../harness/postgres.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const SERVICES = new URL('../../services/', import.meta.url);
const SCHEMAS: Readonly<Record<string, string>> = {
  'method-registry': 'registry',
  notifier: 'notifier',
  'run-scheduler': 'scheduler',
};

export interface ScopedDatabase {
  readonly schemas: readonly string[];
  readonly serviceUser: string;
  /** A superuser: no policy, and no foreign key where it says so, holds for it. */
  readonly admin: Sql;
  /** The services' own user. */
  readonly service: Sql;
  /** Reads as the schema's reader role. */
  readerOf(schema: string): OrganizationReader;
  /** Brings every schema to the newest version. */
  migrateAll(): Promise<void>;
  close(): Promise<void>;
}

/** `filesMax`: applies only this many of a service's migrations, the first ones. */
export async function openScopedDatabase(filesMax: Readonly<Record<string, number>> = {}): Promise<ScopedDatabase> {
  const { url, drop } = await (await testPostgres()).freshDatabase();
  const pool = (of: string) => openPool({ url: of, applicationName: 'scoping', max: 2, statementTimeoutMs: 10_000 });
  const admin = pool(url);
  const serviceUser = `test_service_${randomBytes(4).toString('hex')}`;
  const serviceUrl = new URL(url);
  [serviceUrl.username, serviceUrl.password] = [serviceUser, randomBytes(8).toString('hex')];
  const database = serviceUrl.pathname.slice(1);

  await admin.unsafe(`create role ${serviceUser} login password '${serviceUrl.password}'`);
  await admin.unsafe(`alter database ${database} owner to ${serviceUser}`);
  const schemas: string[] = [];
  const migrations: (() => Promise<unknown>)[] = [];
  for (const folder of readdirSync(SERVICES)) {
    if (!readdirSync(new URL(folder, SERVICES)).includes('migrations')) continue;
    const schema = SCHEMAS[folder];
    if (schema === undefined) throw new Error(`services/${folder} has migrations: name its schema here`);
    await admin.begin((transaction) => ensureReaderRole(transaction, readerRole(schema)));
    await admin.unsafe(`grant ${readerRole(schema)} to ${serviceUser}`);
    const files = new URL(`${folder}/migrations/`, SERVICES);
    await migrate(serviceUrl.href, { schema, folder: firstOf(files, filesMax[folder]) });
    migrations.push(() => migrate(serviceUrl.href, { schema, folder: files }));
    schemas.push(schema);
  }

  const service = pool(serviceUrl.href);
  return {
    schemas,
    serviceUser,
    admin,
    service,
    readerOf: (schema) => new OrganizationReader({ sql: service, role: readerRole(schema) }),
    async migrateAll() {
      for (const migrateOne of migrations) await migrateOne();
    },
    async close() {
      await service.end({ timeout: 1 });
      await admin.unsafe(`alter database ${database} owner to current_user`);
      await admin.unsafe(`drop owned by ${serviceUser} cascade`);
      await admin.unsafe(`drop role ${serviceUser}`);
      await admin.end({ timeout: 1 });
      await drop();
    },
  };
}

function firstOf(folder: URL, filesMax: number | undefined): URL {
  if (filesMax === undefined) return folder;
  const copy = tempFolder('migrations');
  for (const name of readdirSync(folder).sort().slice(0, filesMax)) {
    copyFileSync(join(fileURLToPath(folder), name), join(copy, name));
  }
  return pathToFileURL(`${copy}/`);
}
