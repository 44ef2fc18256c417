import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { migrate } from '@methods/postgres/migrate';
import { testPostgres } from '@methods/test/harness/postgres';
import { programArguments } from '@methods/test/harness/program-arguments';
import { tempFolder } from '@methods/test/harness/temp-folder';
import postgres from 'postgres';
import { issuerOf, SignIn } from './sign-in.ts';

/** A process does not return a port twice, so the next start is another process. */
function issuerInAnotherProcess(folder: string): Promise<string> {
  const code = new URL('./sign-in.ts', import.meta.url);
  const program = `const { SignIn } = await import(${JSON.stringify(code.href)});
    process.stdout.write((await SignIn.of(${JSON.stringify(folder)}, '${BASE}', () => {})).issuer);`;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, programArguments(program, code), (error, out) =>
      error === null ? resolve(out) : reject(error),
    );
  });
}

const BASE = 'http://127.0.0.1:4600';
const ORG = 'org_00000000000000000000000001';

describe('the sign-in of a stack', () => {
  let folder = '';
  const said: string[] = [];
  const open = () => SignIn.of(folder, BASE, (line) => said.push(line));

  beforeEach(() => {
    if (folder !== '') rmSync(folder, { recursive: true });
    folder = tempFolder('sign-in');
    said.length = 0;
    delete process.env.OIDC_ISSUER;
  });
  after(() => {
    delete process.env.OIDC_ISSUER;
    rmSync(folder, { recursive: true });
  });

  test('keeps its port from start to start', async () => {
    const { issuer } = await open();
    assert.match(issuer, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(await issuerInAnotherProcess(folder), issuer);
    assert.deepEqual(issuerOf(folder), { issuer, embedded: true });
  });

  test('passes gateways the settings they need, and those of an outside issuer if there is one', async () => {
    const own = await open();
    assert.deepEqual(own.gatewayEnvironment(), {
      PUBLIC_URL: BASE,
      MACHINE_AUDIENCE: `${BASE}/api`,
      MCP_URL: `${BASE}/mcp`,
      OIDC_ISSUER: own.issuer,
      OIDC_CLIENT_ID: 'methods-dashboard',
      OIDC_ORG_CLAIM: 'org_id',
      OIDC_ORG_NAME_CLAIM: 'org_name',
      OIDC_ROLE_CLAIM: 'role',
      OIDC_CLI_CLIENT_ID: 'methods-cli',
    });
    process.env.OIDC_ISSUER = 'https://login.example';
    const outside = await open();
    assert.equal(outside.providerEnvironment(), null);
    assert.equal(outside.gatewayEnvironment().OIDC_ISSUER, 'https://login.example');
    assert.equal('OIDC_CLIENT_ID' in outside.gatewayEnvironment(), false);
    assert.deepEqual(issuerOf(folder), { issuer: 'https://login.example', embedded: false });
  });

  test('moves its organizations to another issuer, even after a start that was killed in between', async () => {
    const database = await (await testPostgres()).freshDatabase();
    const migrations = new URL('../../../services/method-registry/migrations/', import.meta.url);
    await migrate(database.url, { schema: 'registry', folder: migrations });
    const sql = postgres(database.url, { max: 1 });
    const issuers = async () =>
      (await sql`select issuer, external_id from registry.organizations order by org_id`).map(
        ({ issuer, external_id }) => [issuer, external_id],
      );
    try {
      await sql`insert into registry.organizations (org_id, issuer, external_id, name)
        values (${ORG}, 'local-stack', 'local', 'Local'),
          ('org_00000000000000000000000002', 'https://elsewhere.example', 'local', 'Other')`;
      const first = await open();
      await first.takeOrganizationsAlong(database.url);
      assert.deepEqual(await issuers(), [
        [first.issuer, 'local'],
        ['https://elsewhere.example', 'local'],
      ]);
      // Killed before it moved anything.
      process.env.OIDC_ISSUER = 'https://login.example';
      await open();
      delete process.env.OIDC_ISSUER;
      const port = Number(new URL(first.issuer).port);
      const thief = createServer().listen(port, '127.0.0.1');
      await new Promise((resolve) => thief.once('listening', resolve));
      const moved = await open().finally(() => thief.close());
      assert.notEqual(moved.issuer, first.issuer);
      assert.match(said.join(), new RegExp(`port ${port} is taken`));
      await moved.takeOrganizationsAlong(database.url);
      assert.deepEqual((await issuers())[0], [moved.issuer, 'local']);
      assert.deepEqual(JSON.parse(readFileSync(join(folder, 'issuer.json'), 'utf8')).former, []);
      // Two issuers before this one knew an organization of that id, and neither was left behind yet.
      writeFileSync(
        join(folder, 'issuer.json'),
        JSON.stringify({ port: null, issuer: moved.issuer, former: ['https://elsewhere.example'] }),
      );
      const third = await open();
      await third.takeOrganizationsAlong(database.url);
      assert.deepEqual(await issuers(), [
        [third.issuer, 'local'],
        ['https://elsewhere.example', 'local'],
      ]);
    } finally {
      await sql.end();
      await database.drop();
    }
  });

  test('finds nothing to move in an empty database', async () => {
    const database = await (await testPostgres()).freshDatabase();
    try {
      await (await open()).takeOrganizationsAlong(database.url);
      assert.deepEqual(JSON.parse(readFileSync(join(folder, 'issuer.json'), 'utf8')).former, []);
    } finally {
      await database.drop();
    }
  });
});
