// Runs every statement of this service on a full database and compares the rows and blocks its plan reads with what it
// returns.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newId, type OrgId } from '@methods/base/ids';
import { silentLogger } from '@methods/logging/logger';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import type { Sql } from '@methods/postgres/pool';
import {
  type Allowance,
  neverRun,
  StatementPlans,
  statementRows,
  wasteful,
} from '@methods/test/harness/statement-plans';
import { claimRequest, planned } from '../../test/notifier-database.fixture.ts';
import { deleteEnded, organizationsWithEnded } from '../retention/retention-sweep.ts';
import { endLinks, findLink, storeLinks, useLink } from './answer-links.ts';
import { claimDeliveries, resendDeliveries } from './claim-deliveries.ts';
import { getDelivery, listDeliveries } from './list-deliveries.ts';
import { closedQuestions } from './mailed-questions.ts';
import { notifierDatabase } from './notifier-database.ts';
import { recordTries } from './record-tries.ts';
import { storeDeliveries } from './store-deliveries.ts';
import { storedEvents, storeEvents } from './store-events.ts';
import { digestParts, storeMails } from './store-mails.ts';

const DELIVERIES = statementRows(50_000);
const LARGE_ORG = 'org_1';

const ALLOWED: readonly Allowance[] = [];

let plans: StatementPlans;

before(async () => {
  plans = await StatementPlans.start();
  const database = notifierDatabase(plans.url, silentLogger);
  await database.start();
  await database.stop();
  await plans.admin.unsafe(`
    set session_replication_role = replica;
    insert into notifier.deliveries (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body, status,
      tries, due_at, created_at, ended_at, endpoint_id, kind)
    select o, 'dlv_' || lpad(n::text, 26, '0'), 'run_' || n / 2, n, 'https://h/', sha256('x'), 'h' || n % 40, 'succeeded',
      'key_a', '{}', s, case s when 'pending' then 0 else 2 end, now() - interval '1 minute', now() - interval '90 days',
      case s when 'pending' then null else now() - interval '80 days' end,
      case when n % 4 = 0 then 'ep_' || n / 4 % 3 else '' end, case when n % 4 = 0 then 'endpoint' else 'webhook' end
    from (select n, 'org_' || case when n % 5 = 0 then n / 5 % 49 + 2 else 1 end as o,
      case when n % 3 = 0 then 'pending' else 'delivered' end as s from generate_series(1, ${DELIVERIES}) n) t;
    insert into notifier.delivery_tries (org_id, delivery_id, try, started_at, duration_ms, http_status, error, answer_start)
    select org_id, delivery_id, k, now(), 1, 200, '', '' from notifier.deliveries, generate_series(1, 2) k
    where status = 'delivered';
    insert into notifier.due_hosts (org_id, host, due_at)
    select org_id, host, min(due_at) from notifier.deliveries where status = 'pending' group by 1, 2;
    insert into notifier.due_organizations (org_id, due_at) select org_id, min(due_at) from notifier.due_hosts group by 1;
    insert into notifier.answer_links (org_id, token_sha256, run_id, question_id, recipient, expires_at)
    select 'org_' || n % 9, sha256(n::text::bytea), 'run_' || n / 2, 'q_' || n, 'a@example.com',
      now() + (n % 100 - 50) * interval '1 day'
    from generate_series(1, ${DELIVERIES}) n;
    insert into notifier.mailed_questions (org_id, question_id, run_id, closed_at)
    select 'org_' || n % 9, 'q_' || n, 'run_' || n / 2, case when n % 4 > 0 then now() - (n % 60) * interval '1 day' end
    from generate_series(1, ${DELIVERIES}) n;
    insert into notifier.mail_counts (org_id, recipient, mails, since)
    select 'org_' || n % 9, n || '@example.com', 9, now() - (n % 60) * interval '1 hour'
    from generate_series(1, ${DELIVERIES}) n;
    insert into notifier.mail_digests (org_id, delivery_id, run_id, seq, part)
    select 'org_' || n % 9, 'dlv_' || n % 5000, 'run_' || n, n, '{}' from generate_series(1, ${DELIVERIES}) n;
    set session_replication_role = origin;`);
});
after(() => plans.stop());

for (const analyzed of [false, true]) {
  test(`no statement on a full database, ${analyzed ? 'analyzed' : 'never analyzed'}, reads more than it gives`, async () => {
    if (analyzed) await plans.admin`analyze`;
    const logged = await plans.during(tour);
    assert.deepEqual(wasteful(logged, ALLOWED), []);
    assert.deepEqual(neverRun(fileURLToPath(new URL('..', import.meta.url)), logged), []);
  });
}

async function tour(): Promise<void> {
  const database = notifierDatabase(plans.url, silentLogger);
  await database.start();
  const { sql } = database;
  const reader = new OrganizationReader({ sql, role: readerRole('notifier') });
  const runId = `run_${newId('dlv')}` as const;
  await storeDeliveries(
    sql,
    [1, 2, 3].map((seq) => planned({ orgId: LARGE_ORG, runId, seq })),
  );
  assert.equal((await storedEvents(sql, [{ orgId: LARGE_ORG, runId, seq: 1 }])).size, 1);
  const { claimed } = await claimDeliveries(sql, claimRequest());
  assert.ok(claimed.length > 0);
  const result = { startedAtMs: 1, durationMs: 1, httpStatus: 500, error: '', answerStart: '' };
  const [first, ...rest] = claimed;
  assert.ok(first);
  await recordTries(sql, [{ delivery: first, after: { status: 'exhausted', waitMs: 0 }, result }]);
  await recordTries(
    sql,
    rest.map((delivery) => ({ delivery, after: { status: 'pending' as const, waitMs: 5_000 }, result })),
  );
  await resendDeliveries(sql, first.orgId, [first.deliveryId]);
  const none = { runId: null, endpointId: null, status: null, kind: null };
  const all = { ...none, orgId: LARGE_ORG as OrgId, limit: 50, after: null };
  const page = await listDeliveries(reader, all);
  await listDeliveries(reader, { ...all, after: page.at(-1)?.deliveryId ?? null });
  await listDeliveries(reader, { ...all, runId: 'run_4' });
  const filters = [
    { status: 'exhausted' },
    { kind: 'slack' },
    { kind: 'endpoint', status: 'delivered' },
    { endpointId: 'ep_1' },
    { endpointId: 'ep_1', status: 'exhausted', after: page.at(-1)?.deliveryId ?? null },
  ] as const;
  for (const filter of filters) await listDeliveries(reader, { ...all, ...filter });
  await getDelivery(reader, first.orgId, first.deliveryId);
  for (const { orgId } of await organizationsWithEnded(sql, '', 20)) await deleteEnded(sql, orgId, 30, 50);
  await links(sql);
  await database.stop();
}

async function links(sql: Sql): Promise<void> {
  const tokenSha256 = randomBytes(32);
  const run = { orgId: LARGE_ORG as OrgId, runId: 'run_7' as const };
  const to = { recipient: 'a@example.com', userId: '', endpointId: '' } as const;
  const link = { ...run, tokenSha256, questionId: 'q_new' as const, ...to };
  await storeLinks(sql, [{ ...link, expiresAtMs: Date.now() + 60_000 }]);
  await findLink(sql, tokenSha256);
  await useLink(sql, tokenSha256);
  await endLinks(sql, [link]);
  await mails(sql);
}

async function mails(sql: Sql): Promise<void> {
  const run = { orgId: LARGE_ORG as OrgId, runId: `run_${newId('dlv')}` as const };
  const questionId = newId('q');
  const asked = { ...run, questionId, isForTeam: true };
  const url = 'mailto:a@example.com';
  const deliveries = [planned({ ...run, kind: 'mail', url: 'mailto:', host: 'mailto:' })];
  await storeEvents(sql, [{ deliveries, question: { ...asked, isClosed: false } }]);
  const { claimed } = await claimDeliveries(sql, claimRequest({ limit: 1 }));
  const announced = { ...(claimed[0] ?? assert.fail()), ...run };
  const link = { ...run, questionId, recipient: 'a@example.com', userId: '', endpointId: '' } as const;
  for (let seq = 2; seq < 26; seq++) {
    const [body, digestPart] = [Buffer.from('{}'), '{}'];
    const mail = { recipient: 'a@example.com', url, body, digestBody: body, digestPart };
    const linked = { ...link, tokenSha256: randomBytes(32), expiresAtMs: Date.now() + 60_000 };
    await storeMails(sql, { ...announced, seq }, [{ ...mail, link: linked }], Date.now());
  }
  await digestParts(sql, run.orgId, 'dlv_1');
  await storeEvents(sql, [{ deliveries: [], question: { ...asked, isClosed: true } }]);
  assert.equal((await closedQuestions(sql, run.orgId, [questionId, 'q_other'])).size, 1);
}
