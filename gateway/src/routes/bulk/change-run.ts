// Does to one run what a change of many runs is about, in the name of the person who started it.
import { createHash } from 'node:crypto';
import { canonicalDigest } from '@methods/base/canonical';
import type { BulkId, OrgId, RunId } from '@methods/base/ids';
import { type Bulk, BulkAction, type BulkItem } from '@methods/proto/scheduler/v1/bulk_service_pb';
import type { Act } from '@methods/service/audit-log';
import type { WaitingCaller } from '../../clients/run-waiters.ts';
import { NO_ONE } from '../../plugins/request-actor.ts';
import { startLike } from '../runs/rerun-run.ts';
import type { RunRouteParts } from '../runs/run-reply.ts';
import type { ItemOutcome } from './bulk-driver.ts';

export type ChangeParts = Pick<
  RunRouteParts,
  'scheduler' | 'settings' | 'webhooks' | 'longWork' | 'registry' | 'audit' | 'clock'
>;

/** @throws ServiceError */
export async function changeRun(parts: ChangeParts, orgId: OrgId, bulk: Bulk, item: BulkItem): Promise<ItemOutcome> {
  if (bulk.action === BulkAction.CANCEL) return cancelled(parts, orgId, bulk, item.runId);
  return rerun(parts, orgId, bulk, item.runId);
}

async function cancelled(
  { scheduler, audit }: ChangeParts,
  orgId: OrgId,
  bulk: Bulk,
  runId: RunId,
): Promise<ItemOutcome> {
  const run = await scheduler.cancelRun({ orgId, runId, requestId: bulk.requestId });
  audit.note(actOf(orgId, bulk, 'run.cancel', runId, { method: run.method }));
  return { state: 'done', reason: '', newRunId: '' };
}

/** A repeat gets the run of the first time. */
async function rerun(parts: ChangeParts, orgId: OrgId, bulk: Bulk, runId: RunId): Promise<ItemOutcome> {
  const address = { orgId, runId, requestId: bulk.requestId };
  const fromStep = bulk.action === BulkAction.RERUN_FAILED_STEP ? await failedStep(parts, address) : undefined;
  const asked = { bulk: bulk.bulkId, rerun_of: runId };
  const hash = createHash('sha256').update(`${bulk.bulkId} ${runId}`, 'utf8').digest();
  const key = { hash, digest: canonicalDigest(asked) };
  const start = await startLike(parts, address, { key, keyId: '', starter: bulk.by ?? NO_ONE, fromStep });
  const { run, replayed } = await parts.scheduler.startRun(start, bulk.requestId, null, noCaller(bulk.bulkId));
  const { method, versionId } = run;
  const facts = { method, version_id: versionId, rerun_of: runId, ...(fromStep && { from_step: fromStep }) };
  if (!replayed) parts.audit.note(actOf(orgId, bulk, 'run.start', run.runId, facts));
  return { state: 'done', reason: '', newRunId: run.runId };
}

/** The top-level step that failed; undefined: from the first step. */
async function failedStep(
  { scheduler, registry }: ChangeParts,
  address: { orgId: OrgId; runId: RunId; requestId: string },
) {
  const { error, method, versionId } = await scheduler.getRun(address);
  const [name = ''] = (error?.step ?? '').split(/[/[]/);
  if (name === '') return undefined;
  const methodId = method.slice('wf_'.length);
  const { steps } = await registry.version(
    address.orgId,
    methodId as Parameters<typeof registry.version>[1],
    versionId,
  );
  return steps.some((step) => step.name === name) ? name : undefined;
}

function actOf(orgId: OrgId, bulk: Bulk, action: Act['action'], targetId: RunId, facts: Record<string, string>): Act {
  const doer = { kind: 'user', id: bulk.by?.personId ?? '', ip: bulk.ip, requestId: bulk.requestId };
  return { orgId, doer, action, targetId, facts: { ...facts, bulk_id: bulk.bulkId } };
}

/** No request waits for the run. */
function noCaller(bulkId: BulkId): WaitingCaller {
  return { id: bulkId, gone: false, onGone: () => () => {} };
}
