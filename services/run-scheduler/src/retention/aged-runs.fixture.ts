// Runs that were started and ended days ago, and a registry that knows how long organizations keep theirs.
import { newId, newRunId, type OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { silentLogger } from '@methods/logging/logger';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { RpcServer } from '@methods/rpc/server';
import { claim, recordStep, succeed } from '../run/run.fixture.ts';
import type { Run, RunFacts } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { newFacts, startOf, type TestStore } from '../store/run-store.fixture.ts';

const DAY_MS = 86_400_000;

/** Two steps and an end. */
export const ENDED: readonly RunCommand[] = [
  claim('t1'),
  recordStep('t1', 1, 'a'),
  recordStep('t1', 2, 'b'),
  succeed('t1', 3),
];

/**
 * Stores a run as if it was started this many days ago and its commands came then, or `endedDays` ago; its events are
 * sent.
 */
export async function agedRun(
  db: TestStore,
  days: number,
  told: readonly RunCommand[] = ENDED,
  more: Partial<RunFacts> & { readonly endedDays?: number } = {},
): Promise<Run> {
  const { endedDays = days, ...facts } = more;
  const shard = facts.shard ?? 0;
  const createdAtMs = (await db.nowMs()) - days * DAY_MS;
  const runId = newRunId(shard, createdAtMs);
  const run = await db.tell(null, startOf(newFacts(shard, { runId, createdAtMs, ...facts })), ...told);
  await db.sql`update scheduler.runs set state_since_ms = state_since_ms - ${endedDays * DAY_MS}::bigint
    where run_id = ${runId}`;
  await db.sql`delete from scheduler.outbox where run_id = ${runId}`;
  return run;
}

/** Many runs that ended when they were started, in one statement. */
export async function manyAgedRuns(db: TestStore, count: number, days: number, orgId: OrgId): Promise<void> {
  const fromMs = (await db.nowMs()) - days * DAY_MS;
  const ids = Array.from({ length: count }, (_, i) => newRunId(0, fromMs + i));
  await db.sql`
    insert into scheduler.runs (run_id, org_id, shard, revision, method, version_id, inputs_json, idempotency_hash,
      request_digest, key_id, answer_by, created_at_ms, max_attempts, needs, status, state_since_ms, queued_ms,
      running_ms, waiting_ms, attempts, attempt_open, last_seq, result_json)
    select id, ${orgId}, 0, 3, 'wf_a', 'ver_a', '{}', sha256(convert_to(id, 'UTF8')), '', 'key_a', 'team',
      ${fromMs}::bigint + n, 3, '', 'succeeded', ${fromMs}::bigint + n, 1, 1, 0, 1, true, 1, '1'
    from unnest(${ids}::text[]) with ordinality as t(id, n)`;
}

/** A saved folder of one chunk. */
export async function folderOf(db: TestStore, { facts }: Pick<Run, 'facts'>): Promise<void> {
  const folderId = newId('fld');
  await db.sql`insert into scheduler.run_folders (folder_id, org_id, run_id, bytes_total, created_at_ms)
    values (${folderId}, ${facts.orgId}, ${facts.runId}, 1, ${facts.createdAtMs})`;
  await db.sql`insert into scheduler.run_folder_chunks (folder_id, org_id, position, chunk)
    values (${folderId}, ${facts.orgId}, 0, 'x')`;
}

/** Returns its days, or that it has no such organization. Restarts on the port it had. */
export class SettingsStandIn {
  readonly days = new Map<string, number>();
  asked = 0;
  private server: RpcServer | null = null;
  private port = 0;

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const getSettings = ({ orgId }: { orgId: OrgId }) => {
      this.asked++;
      const retentionDays = this.days.get(orgId);
      if (retentionDays === undefined) throw new ServiceError('not_found');
      return { settings: { retentionDays } };
    };
    const services = [[AccountService, { getSettings }] as never];
    this.server = new RpcServer({ listen: this.address, services, logger: silentLogger, graceMs: 100 });
    await this.server.start();
    this.port = this.server.port;
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = null;
  }
}
