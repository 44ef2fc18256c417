// Runs every statement of this service on a full database and compares the rows and blocks its plan reads with what it
// returns.
import 'reflect-metadata/lite';
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type MethodId, newId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import {
  type Allowance,
  neverRun,
  StatementPlans,
  statementRows,
  wasteful,
} from '@methods/test/harness/statement-plans';
import { AuditStore } from './audit-store.ts';
import { BuildStore } from './build-store.ts';
import { CreationStore } from './creation-store.ts';
import { EndpointStore } from './endpoint-store.ts';
import { KeyStore } from './key-store.ts';
import { LocalRunStore } from './local-run-store.ts';
import { MethodStore } from './method-store.ts';
import { OfferStore } from './offer-store.ts';
import { OrganizationStore, SettingsStore } from './organization-store.ts';
import { RecipientStore } from './recipient-store.ts';
import { type Database, type Reader, registryDatabase } from './registry-database.ts';
import { SessionStore } from './session-store.ts';
import { UploadStore } from './upload-store.ts';
import { UserStore } from './user-store.ts';
import { VersionStore } from './version-store.ts';

const ROWS = statementRows(30_000);
/** Returns the id of each kind for a number. */
const idOf = <Prefix extends string>(prefix: Prefix, n: number) => `${prefix}${String(n).padStart(26, '0')}` as const;
const LARGE_ORG = idOf('org_', 1);
const DOER = { kind: 'user' as const, id: idOf('usr_', 1), ip: '', requestId: '' };

const ALLOWED: readonly Allowance[] = [
  {
    statement: 'with recursive organization as (',
    rowsMax: 3_000,
    why: 'a claim looks at a few builds of each organization with any',
  },
  {
    statement: 'strpos(folded_name,',
    rowsMax: 20_000,
    why: 'a page of a search reads this many names',
  },
  {
    statement: 'order by method_id desc offset',
    rowsMax: 20_000,
    why: 'where a page of a search stops looking',
  },
];

let plans: StatementPlans;

before(async () => {
  plans = await StatementPlans.start();
  const database = registryDatabase(plans.url, silentLogger);
  await database.start();
  await database.stop();
  await plans.admin.unsafe(`
    set session_replication_role = replica;
    create function pg_temp.id(p text, n bigint) returns text language sql immutable as $$ select p || lpad(n::text, 26, '0') $$;
    create function pg_temp.org(n bigint) returns text language sql immutable as $$
      select pg_temp.id('org_', case when n % 5 = 0 then n / 5 % 49 + 2 else 1 end) $$;
    insert into registry.organizations (org_id, issuer, external_id, name)
    select pg_temp.id('org_', n), 'https://id.example', 'ext' || n, 'Org' from generate_series(1, 5000) n;
    insert into registry.users (org_id, user_id, subject, email, email_verified, name, first_role, last_seen_at)
    select pg_temp.org(n), pg_temp.id('usr_', n), 's' || n, 'P' || n || '@example.com', true, 'U', 'admin', now() - interval '1 day' from generate_series(1, ${ROWS}) n;
    insert into registry.service_keys (org_id, key_id, name, auth_sha256, sealed_webhook_secret, revoked_at, created_by)
    select pg_temp.org(n), pg_temp.id('key_', n), 'k', sha256(n::text::bytea), repeat('x', 32)::bytea,
      case when n > 400 then now() end, '' from generate_series(1, 2000) n;
    insert into registry.endpoints (org_id, endpoint_id, place, name, format, sealed_url, shown_url, events, sealed_secret, created_by)
    select pg_temp.id('org_', n), pg_temp.id('ep_', n * 10 + k), k, 'e' || k, 'webhook', repeat('x', 32)::bytea, '', '{failed}', repeat('x', 32)::bytea, ''
    from generate_series(1, 5000) n, generate_series(1, 3) k;
    insert into registry.methods (org_id, method_id, display_name, current_version, published_version, created_by)
    select pg_temp.org(n), pg_temp.id('', n), 'Method ' || n, pg_temp.id('ver_', n * 3), pg_temp.id('ver_', n * 3), pg_temp.id('usr_', n)
    from generate_series(1, ${ROWS}) n;
    insert into registry.versions (org_id, method_id, version_id, base_version, schema_version, source, sha256, reason, features,
      secrets, calls_json, created_by)
    select pg_temp.org(n), pg_temp.id('', n), pg_temp.id('ver_', n * 3 - 3 + k), case when k > 1 then pg_temp.id('ver_', n * 3 - 4 + k) end,
      'method/2', 'x', sha256('x'), '', '{}', '{}', '{}', pg_temp.id('usr_', n)
    from generate_series(1, ${ROWS}) n, generate_series(1, 3) k;
    insert into registry.publications (org_id, method_id, version_id, published_by)
    select org_id, method_id, version_id, created_by from registry.versions;
    insert into registry.offers (org_id, method_id, place, offered_by)
    select org_id, method_id, place, '' from (
      select org_id, method_id, row_number() over (partition by org_id order by method_id) as place from registry.methods) m
    where place <= 90;
    insert into registry.creation_requests (org_id, idempotency_hash, method_id, version_id)
    select org_id, sha256(method_id::bytea), method_id, current_version from registry.methods;
    insert into registry.sessions (org_id, user_id, session_sha256, expires_at)
    select pg_temp.org(n), pg_temp.id('usr_', n), sha256(n::text::bytea), now() + interval '1 day' from generate_series(1, ${ROWS}) n;
    insert into registry.sign_ins (sign_in_sha256, state, nonce, code_verifier, return_to, expires_at)
    select sha256(n::text::bytea), '', '', '', '', now() + interval '1 day' from generate_series(1, ${ROWS}) n;
    insert into registry.audit (org_id, audit_id, doer_kind, doer_id, ip, request_id, action, target_kind, target_id)
    select pg_temp.org(n), pg_temp.id('aud_', n), 'user', pg_temp.id('usr_', n % 100), '', '', 'method.publish', 'method', n::text
    from generate_series(1, ${ROWS}) n;
    insert into registry.uploads (org_id, upload_id, token_sha256, display_name, file_name, content_type, size_bytes, offset_bytes,
      part_count, blob_id, method_id, created_by, expires_at)
    select pg_temp.org(n), pg_temp.id('upl_', n), sha256(n::text::bytea), '', 'f', 't', 10, 10, 1, 'b' || n, pg_temp.id('', n), '',
      now() + interval '1 day' from generate_series(1, ${ROWS} / 3) n;
    insert into registry.upload_parts (org_id, upload_id, blob_id, offset_bytes, part_name)
    select org_id, upload_id, blob_id, 0, 'p' from registry.uploads;
    insert into registry.builds (org_id, method_id, upload_id, state, due_at, is_large)
    select org_id, method_id, upload_id, 'queued', now() - interval '1 minute', false from registry.uploads;
    insert into registry.local_runs (org_id, run_id, method_id, version_id, sequence, inspection, status, created_by)
    select pg_temp.org(n), pg_temp.id('run_', n), pg_temp.id('', n), pg_temp.id('ver_', n * 3), 1, '{}', 'succeeded', ''
    from generate_series(1, ${ROWS}) n;
    set session_replication_role = origin;`);
});
after(() => plans.stop());

for (const analyzed of [false, true]) {
  test(`no statement on a full database, ${analyzed ? 'analyzed' : 'never analyzed'}, reads more than it gives`, async () => {
    if (analyzed) await plans.admin`analyze`;
    const logged = await plans.during(() => tour(analyzed ? 2 : 1));
    assert.deepEqual(wasteful(logged, ALLOWED), []);
    assert.deepEqual(neverRun(fileURLToPath(new URL('..', import.meta.url)), logged), []);
  });
}

async function tour(turn: number): Promise<void> {
  const database = registryDatabase(plans.url, silentLogger);
  await database.start();
  const { sql } = database;
  const reader = new OrganizationReader({ sql, role: readerRole('registry') });
  try {
    await people(sql, reader, turn);
    await keys(sql, reader);
    await endpoints(sql, reader, turn);
    await methods(sql, reader, turn);
    await recordings(sql, reader, turn);
  } finally {
    await database.stop();
  }
}

const first = { below: null, limit: 50 };

async function people(sql: Database, reader: Reader, turn: number): Promise<void> {
  const organization = { issuer: 'https://id.example', externalId: 'ext1', name: 'Org' };
  const organizations = new OrganizationStore(sql);
  await organizations.ensure(organization);
  await organizations.ensure({ ...organization, externalId: `new${turn}` });
  const users = new UserStore(sql, reader);
  const claims = { organization, subject: 's1', email: 'a@example.com', emailVerified: true };
  const user = { ...claims, name: `A${turn}`, role: '' as const };
  await users.ensure(user, DOER);
  await users.ensure({ ...user, subject: `new${turn}` }, DOER);
  await users.find(LARGE_ORG, DOER.id);
  const page = await users.list(LARGE_ORG, first);
  await users.list(LARGE_ORG, { ...first, below: page.items.at(-1)?.userId ?? null });
  await users.allOf(LARGE_ORG, 1_000);
  await users.setRole({
    orgId: LARGE_ORG,
    userId: idOf('usr_', 2),
    role: turn === 1 ? 'viewer' : 'member',
    doer: DOER,
  });
  await users.disable({ orgId: LARGE_ORG, userId: idOf('usr_', 50 + turn), doer: DOER });
  const recipients = new RecipientStore(sql, reader);
  const published = idOf('', 6) as MethodId;
  await recipients.facts(LARGE_ORG, published);
  await recipients.publisher(LARGE_ORG, published);
  await recipients.admins(LARGE_ORG, 50, '');
  await recipients.named(LARGE_ORG, { addresses: ['a@example.com', 'p7@example.com'], roles: ['viewer'] }, 50, '');
  const sessions = new SessionStore(sql);
  const [signIn, session] = [randomBytes(32), randomBytes(32)];
  await sessions.beginSignIn(signIn, { state: 's', nonce: 'n', codeVerifier: 'c', returnTo: '/' });
  await sessions.takeSignIn(signIn, 's');
  await sessions.create({ orgId: LARGE_ORG, userId: idOf('usr_', 11 + turn), sessionSha256: session, doer: DOER });
  await sessions.resolve(session);
  await sessions.end(session, DOER);
  const settings = new SettingsStore(sql, reader);
  await settings.change(
    LARGE_ORG,
    { contentOnDevices: null, retentionDays: 30 + turn, webhookHosts: null, timeZone: null },
    DOER,
  );
  await settings.get(LARGE_ORG);
  const audit = new AuditStore(sql, reader);
  const act = {
    orgId: LARGE_ORG,
    auditId: newId('aud'),
    at: new Date(),
    doer: DOER,
    action: 'run.start',
    targetKind: 'run',
    targetId: 'r',
  };
  await audit.record([{ ...act, beforeJson: null, afterJson: null } as never]);
  const none = { action: '', targetId: '', doerId: '', after: null, before: null };
  for (const filter of [{}, { action: 'method.publish' }, { targetId: '7' }, { doerId: DOER.id }, { action: 'none' }]) {
    await audit.list(LARGE_ORG, { ...none, ...filter }, first);
    await audit.list(LARGE_ORG, { ...none, ...filter }, { ...first, below: idOf('aud_', ROWS / 2) });
    await audit.list(LARGE_ORG, { ...none, ...filter, after: new Date(0), before: new Date() }, first);
  }
}

async function keys(sql: Database, reader: Reader): Promise<void> {
  const store = new KeyStore(sql, reader);
  const orgId = idOf('org_', 3);
  const made = {
    orgId,
    keyId: newId('key'),
    name: 'k',
    authSha256: randomBytes(32),
    sealedWebhookSecret: Buffer.alloc(32),
    doer: DOER,
  };
  await store.create(made);
  await store.create({ ...made, keyId: newId('key') });
  await store.list(LARGE_ORG, first);
  await store.list(LARGE_ORG, { ...first, below: `live.${idOf('key_', 300)}` });
  const none = Buffer.alloc(0);
  await store.grantContent(made, { fromKeyId: idOf('key_', 5), wrapped: Buffer.alloc(100), fromAuthSha256: none });
  await store.resolve(made.authSha256);
  await store.noteUse([{ orgId, keyId: made.keyId, usedAt: new Date() }]);
  await store.renewWebhookSecret(made, Buffer.alloc(40));
  await store.sealedWebhookSecret(orgId, made.keyId);
  await store.sampleWebhookSecret();
  await store.revoke(made);
}

async function endpoints(sql: Database, reader: Reader, turn: number): Promise<void> {
  const store = new EndpointStore(sql, reader);
  const orgId = idOf('org_', 3);
  const endpoint = { orgId, endpointId: newId('ep'), name: `n${turn}`, format: 'webhook', doer: DOER } as const;
  const sealed = Buffer.alloc(40);
  await store.create({ ...endpoint, sealedUrl: sealed, shownUrl: '', events: ['failed'], sealedSecret: sealed });
  await store.change(endpoint, { name: null, url: null, events: null, paused: true });
  await store.rotate(endpoint, sealed, 1_000);
  await store.find(orgId, endpoint.endpointId);
  await store.list(orgId);
  await store.targets(orgId);
  await store.events(orgId);
  await store.remove(endpoint);
}

async function methods(sql: Database, reader: Reader, turn: number): Promise<void> {
  const store = new MethodStore(sql, reader);
  const methodId = idOf('', 6) as MethodId;
  await store.find(LARGE_ORG, methodId);
  await store.existing(
    LARGE_ORG,
    Array.from({ length: 1_000 }, (_, n) => idOf('', n) as MethodId),
  );
  const page = await store.list({ orgId: LARGE_ORG, search: '', page: first });
  await store.list({ orgId: LARGE_ORG, search: '', page: { ...first, below: page.items.at(-1)?.methodId ?? null } });
  await store.list({ orgId: LARGE_ORG, search: 'nothing', page: first });
  await store.change({ orgId: LARGE_ORG, methodId, displayName: `N${turn}`, agentPrompt: null, doer: DOER });
  await store.publish({ orgId: LARGE_ORG, methodId, versionId: idOf('ver_', 15 + turn), doer: DOER });
  const offers = new OfferStore(sql, reader);
  const offered = { orgId: LARGE_ORG, methodId: idOf('', ROWS - turn) as MethodId, doer: DOER };
  await offers.offer(offered);
  await offers.list(LARGE_ORG);
  await offers.withdraw(offered);
  const versions = new VersionStore(sql, reader);
  const source = sourceOf(turn);
  const created = new CreationStore(sql, reader);
  const hash = randomBytes(32);
  const creation = { orgId: LARGE_ORG, idempotencyHash: hash, displayName: 'New', source, agentPrompt: '', doer: DOER };
  const made = await created.create(creation);
  await created.create(creation);
  await created.find(LARGE_ORG, hash);
  await created.addKey(LARGE_ORG, randomBytes(32), methodId);
  await versions.save({
    orgId: LARGE_ORG,
    methodId: made.method.methodId,
    baseVersion: made.version?.versionId ?? null,
    source: sourceOf(turn + 9),
    reason: '',
    doer: DOER,
  });
  const versionId = idOf('ver_', 18);
  for (const choice of [{ kind: 'current' }, { kind: 'published' }, { kind: 'saved', versionId }] as const) {
    await versions.find(LARGE_ORG, methodId, choice);
  }
  await versions.list(LARGE_ORG, methodId, first);
  await versions.list(LARGE_ORG, methodId, { ...first, below: versionId });
  for (const text of ['l', 'other']) {
    await versions.putLock({ orgId: LARGE_ORG, methodId, versionId, lock: Buffer.from(text) });
  }
  const save = {
    orgId: LARGE_ORG,
    methodId,
    baseVersion: versionId,
    source: sourceOf(turn + 19),
    reason: '',
    doer: DOER,
  };
  await assert.rejects(versions.save({ ...save, baseVersion: idOf('ver_', 16) }), { code: 'version_conflict' });
  const local = new LocalRunStore(sql, reader);
  const record = { orgId: LARGE_ORG, runId: newId('run' as never), methodId, versionId, sequence: 1, doer: DOER };
  await local.put({ ...record, inspection: { json: '{}', status: 'running' } });
  await local.put({ ...record, sequence: 2, inspection: { json: '{}', status: 'succeeded' } });
  await local.find(LARGE_ORG, record.runId);
  for (const more of [{}, { methodId }, { status: 'running' }, { methodId, status: 'failed' }]) {
    await local.list({ orgId: LARGE_ORG, methodId: null, status: '', page: first, ...more });
  }
}

function sourceOf(n: number) {
  const bytes = Buffer.from(`x${n}`);
  const more = { displayName: 'New', features: [], secrets: [], calls: {}, warnings: [] };
  return { bytes, sha256: createHash('sha256').update(bytes).digest(), schemaVersion: 'method/2', ...more } as never;
}

async function recordings(sql: Database, reader: Reader, turn: number): Promise<void> {
  const uploads = new UploadStore(sql, reader);
  const hash = randomBytes(32);
  const link = { orgId: LARGE_ORG, idempotencyHash: hash, doer: DOER };
  const request = {
    ...link,
    tokenSha256: randomBytes(32),
    displayName: '',
    fileName: 'f',
    contentType: 't',
    sizeBytes: 10,
  };
  const { upload } = await uploads.create(request);
  const tokenSha256 = randomBytes(32);
  await uploads.renewLink({ ...link, tokenSha256 });
  const found = await uploads.findByToken(tokenSha256);
  assert.ok(found !== null);
  await uploads.receive({ upload: found, partName: 'p', partBytes: 10, displayName: 'd', doer: DOER });
  await uploads.partNames(LARGE_ORG, upload.uploadId);
  await uploads.nextAbandoned();
  await uploads.forgetAbandoned({ orgId: LARGE_ORG, uploadId: upload.uploadId, blobId: 'none' });
  const builds = new BuildStore(sql);
  const terms = { leaseMs: 60_000, takeLarge: true, noneOf: [], noLargeOf: [] };
  const claim = async () => {
    const build = await builds.claim(terms);
    assert.ok(build !== null);
    return build;
  };
  await builds.claim({ ...terms, takeLarge: false, noneOf: [LARGE_ORG] });
  const build = await claim();
  await builds.renew(build, 60_000);
  await builds.release(build);
  await builds.succeed(await claim(), sourceOf(turn), 'r');
  const failed = await claim();
  await builds.fail(failed, 'It failed.');
  await builds.retry(failed.orgId, failed.methodId, DOER).catch(() => {});
}
