import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newId, newRunId, type OrgId, type UserId } from '@methods/base/ids';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { TEST_DOER } from '@methods/test/harness/test-doer';
import {
  asDoer,
  methodSource,
  newKey,
  newMember,
  newMethod,
  type RunningRegistry,
  startRegistry,
} from '../../test/running-registry.fixture.ts';

let registry: RunningRegistry;
before(async () => {
  registry = await startRegistry();
});
after(() => registry.stop());

function act(member: { orgId: OrgId; userId: UserId }, more = {}) {
  return {
    auditId: newId('aud'),
    orgId: member.orgId,
    atMs: Date.now(),
    doer: asDoer(member),
    action: 'run.answer',
    targetKind: 'run',
    targetId: newRunId(0),
    beforeJson: '{"status":"waiting"}',
    afterJson: '{"status":"queued"}',
    ...more,
  };
}

describe('RecordAudit', () => {
  test('a batch is stored as sent, and only once when it is repeated', async () => {
    const ann = await newMember(registry.accounts, undefined, { name: 'Ann' });
    const entries = Array.from({ length: 256 }, (_, i) => act(ann, i === 0 ? { beforeJson: '', afterJson: '' } : {}));
    await Promise.all([registry.accounts.recordAudit({ entries }), registry.accounts.recordAudit({ entries })]);
    await registry.accounts.recordAudit({ entries: [act(ann), ...entries.slice(0, 10)] });
    const [{ count } = { count: 0 }] = await registry.sql<{ count: number }[]>`
      select count(*)::int from registry.audit where org_id = ${ann.orgId} and action = 'run.answer'`;
    equal(count, 257);
    const told = entries[255];
    const { entries: found } = await registry.accounts.listAudit({ orgId: ann.orgId, targetId: told?.targetId ?? '' });
    equal(found.length, 1);
    const [entry] = found;
    deepEqual(
      [entry?.auditId, entry?.atMs, entry?.by?.kind, entry?.by?.id, entry?.by?.name, entry?.ip, entry?.requestId],
      [told?.auditId, told?.atMs, 'user', ann.userId, 'Ann', '203.0.113.7', 'req-1'],
    );
    deepEqual(JSON.parse(entry?.beforeJson ?? ''), { status: 'waiting' });
    const bare = await registry.accounts.listAudit({ orgId: ann.orgId, targetId: entries[0]?.targetId ?? '' });
    deepEqual([bare.entries[0]?.beforeJson, bare.entries[0]?.afterJson], ['', '']);
    await registry.accounts.recordAudit({ entries: [] });
  });

  test('an act of a run itself is stored under the name of its part', async () => {
    const ann = await newMember(registry.accounts);
    const doer = { kind: 'system', id: 'deadline', ip: '', requestId: '' };
    await registry.accounts.recordAudit({ entries: [act(ann, { doer })] });
    const { entries } = await registry.accounts.listAudit({ orgId: ann.orgId, doerId: 'deadline' });
    deepEqual(
      entries.map(({ by, action }) => [by?.kind, by?.id, action]),
      [['system', 'deadline', 'run.answer']],
    );
  });

  test('one wrong entry refuses the whole batch', async () => {
    const ann = await newMember(registry.accounts);
    const faults = [
      { auditId: 'aud_1' },
      { orgId: newId('org') },
      { orgId: 'org_' },
      { atMs: 0 },
      { atMs: Number.NaN },
      { atMs: 1e300 },
      { doer: { kind: 'robot', id: 'x' } },
      { doer: { kind: 'constructor', id: 'x' } },
      { doer: { kind: 'user', id: 'key_1' } },
      { doer: undefined },
      { action: 'answer' },
      { action: `run.${'x'.repeat(64)}` },
      { targetKind: 'planet' },
      { targetId: '' },
      { targetId: 'x'.repeat(129) },
      { beforeJson: '[]' },
      { beforeJson: '{' },
      { afterJson: '{"a":"\\u0000"}' },
      { afterJson: `{"a":"${'x'.repeat(8_192)}"}` },
    ];
    for (const fault of faults) {
      const refused = await registry.accounts.recordAudit({ entries: [act(ann), act(ann, fault)] }).then(
        () => null,
        ({ code }) => code,
      );
      ok(['invalid_request', 'not_found'].includes(refused), JSON.stringify(fault));
    }
    await rejects(registry.accounts.recordAudit({ entries: Array.from({ length: 257 }, () => act(ann)) }), {
      code: 'invalid_request',
    });
    const { entries } = await registry.accounts.listAudit({ orgId: ann.orgId, action: 'run.answer' });
    deepEqual(entries, []);
  });
});

describe('ListAudit', () => {
  test('pages are newest first and filtered, and show only one organization', async () => {
    const [ann, eve] = [await newMember(registry.accounts), await newMember(registry.accounts)];
    const { keyId } = await newKey(registry.client, ann.orgId);
    const lateMs = Date.now() + 60_000;
    const acts = Array.from({ length: 25 }, (_, i) =>
      act(ann, { auditId: newId('aud', lateMs + i), atMs: lateMs + i }),
    );
    await registry.accounts.recordAudit({ entries: [...acts, act(eve)] });
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await registry.accounts.listAudit({ orgId: ann.orgId, cursor, limit: 10 });
      seen.push(...page.entries.map(({ auditId }) => auditId));
      cursor = page.nextCursor;
    } while (cursor !== '');
    equal(seen.length, 27);
    deepEqual(seen, [...seen].sort().reverse());
    deepEqual(seen.slice(0, 25), acts.map(({ auditId }) => auditId).reverse());
    const only = async (filter: object) =>
      (await registry.accounts.listAudit({ orgId: ann.orgId, ...filter })).entries.map(({ action }) => action);
    deepEqual(await only({ action: 'key.create' }), ['key.create']);
    deepEqual(await only({ targetId: keyId }), ['key.create']);
    deepEqual(await only({ doerId: ann.userId, action: 'member.join' }), ['member.join']);
    deepEqual(await only({ doerId: eve.userId }), []);
    deepEqual(await only({ targetId: "' or 1=1" }), []);
    const ids = async (filter: object) =>
      (await registry.accounts.listAudit({ orgId: ann.orgId, ...filter })).entries.map(({ auditId }) => auditId);
    const between = { afterMs: lateMs + 4, beforeMs: lateMs + 8 };
    deepEqual(
      await ids(between),
      [7, 6, 5, 4].map((n) => acts[n]?.auditId),
    );
    const first = await registry.accounts.listAudit({ orgId: ann.orgId, ...between, limit: 3 });
    deepEqual(await ids({ ...between, cursor: first.nextCursor }), [acts[4]?.auditId]);
    deepEqual(await ids({ afterMs: lateMs + 25 }), []);
    deepEqual(await ids({ beforeMs: 1 }), []);
    for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await rejects(only({ afterMs: wrong }), { code: 'invalid_request' });
    }
    await rejects(only({ cursor: Buffer.from(ann.userId).toString('base64url') }), { code: 'invalid_request' });
    await rejects(only({ action: 'a\0b' }), { code: 'invalid_request' });
    await rejects(registry.accounts.listAudit({ orgId: 'org_' }), { code: 'not_found' });
  });

  test('a page and each filter is read from an index, newest first, without sorting', async () => {
    const { orgId, userId } = await newMember(registry.accounts);
    await registry.sql`
      insert into registry.audit (org_id, audit_id, doer_kind, doer_id, ip, request_id, action, target_kind, target_id)
      select ${orgId}, 'aud_' || lpad(n::text, 26, '0'), 'user', case n % 100 when 0 then ${userId} else 'usr_' || n end, '',
        '', 'run.' || case n % 50 when 0 then 'answer' else 'read' end, 'run', 'run_' || n % 1000
      from generate_series(1, 20000) n`;
    await registry.sql`analyze registry.audit`;
    const reader = new OrganizationReader({ sql: registry.sql, role: readerRole('registry') });
    for (const [column, value] of [
      ['org_id', orgId],
      ['action', 'run.answer'],
      ['target_id', 'run_7'],
      ['doer_id', userId],
    ] as const) {
      const plan = await reader.read(orgId, async (sql) => {
        const rows = await sql<{ 'QUERY PLAN': string }[]>`
          explain select audit_id from registry.audit where org_id = ${orgId} and ${sql(column)} = ${value}
          order by audit_id desc limit 51`;
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      });
      match(plan, /Index/);
      ok(!/Seq Scan|Sort/.test(plan), plan);
    }
  });

  test('concurrent publications each name the version that they really replaced', async () => {
    const { client } = registry;
    const { orgId } = await newMember(registry.accounts);
    const { methodId, versionId } = await newMethod(client, orgId);
    const versions = [versionId];
    for (let n = 1; n < 12; n++) {
      const source = methodSource(`Report ${n}`);
      const saved = await client.saveVersion({
        doer: TEST_DOER,
        orgId,
        methodId,
        baseVersion: versions.at(-1) ?? '',
        source,
      });
      versions.push(saved.version?.versionId ?? 'ver_none');
    }
    await Promise.all(versions.map((id) => client.publishVersion({ doer: TEST_DOER, orgId, methodId, versionId: id })));
    const { entries } = await registry.accounts.listAudit({ orgId, action: 'method.publish' });
    const [before, after] = [entries.map((entry) => entry.beforeJson), entries.map((entry) => entry.afterJson)].map(
      (facts) => facts.map((json) => (JSON.parse(json) as { published_version: string | null }).published_version),
    );
    // Each replaced another one: the first replaced none, and no other replaced the last.
    const last = (await client.getMethod({ orgId, methodId })).method?.publishedVersion;
    deepEqual(new Set(after), new Set(versions));
    deepEqual([...(before ?? []), last].sort(), [null, ...versions].sort());
  });

  test('the database itself prevents changing and removing lines', async () => {
    const { orgId } = await newMember(registry.accounts);
    for (const statement of [
      registry.sql`update registry.audit set action = 'x.y' where org_id = ${orgId}`,
      registry.sql`delete from registry.audit where org_id = ${orgId}`,
      registry.sql`truncate registry.audit`,
    ]) {
      await rejects(statement, { code: '23000' });
    }
    equal((await registry.accounts.listAudit({ orgId })).entries.length, 1);
  });
});
