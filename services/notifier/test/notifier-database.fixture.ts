// A fresh database with the notifier's schema, and deliveries to store in it.
import { newId, newRunId, randomToken } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import { migratedDatabase } from '@methods/test/harness/migrated-database';
import type { PlannedDelivery } from '../src/delivery/delivery.ts';
import type { ClaimRequest } from '../src/store/claim-statement.ts';
import { notifierDatabase as openNotifierDatabase } from '../src/store/notifier-database.ts';

export interface NotifierDatabase extends AsyncDisposable {
  readonly url: string;
  readonly sql: Sql;
  readonly reader: OrganizationReader;
}

/** A fresh database of the shared server, or the whole server `url`. */
export async function notifierDatabase(serverUrl?: string): Promise<NotifierDatabase> {
  const own = { url: serverUrl ?? '', drop: async () => {} };
  const { url, drop } = serverUrl === undefined ? await migratedDatabase('notifier') : own;
  const database = openNotifierDatabase(url, silentLogger);
  await database.start();
  return {
    url,
    sql: database.sql,
    reader: new OrganizationReader({ sql: database.sql, role: readerRole('notifier') }),
    async [Symbol.asyncDispose]() {
      await database.stop();
      await drop();
    },
  };
}

export function planned(fields: Partial<PlannedDelivery> = {}): PlannedDelivery {
  return {
    orgId: newId('org'),
    deliveryId: newId('dlv'),
    runId: newRunId(0),
    seq: 1,
    url: 'https://hook.example/in',
    endpointId: '',
    kind: 'webhook',
    host: 'hook.example',
    event: 'succeeded',
    keyId: newId('key'),
    body: Buffer.from('{"event":"succeeded"}'),
    createdAtMs: 1_760_000_000_123,
    ...fields,
  };
}

/** For a node without sends in flight. */
export function claimRequest(fields: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    claim: randomToken(),
    claimMs: 60_000,
    limit: 64,
    bytes: 8 << 20,
    busy: [],
    idle: { sends: 64, bytes: 8 << 20, hostSends: 8, mailSends: 4 },
    ...fields,
  };
}
