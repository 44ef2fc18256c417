// The gateways' calls about changes of many runs: they are prepared and kept here, and carried out by gateways.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type BulkId, isId, newId, type OrgId, type RunId } from '@methods/base/ids';
import { overShare, ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';
import {
  BulkAction,
  type BulkItemSchema,
  BulkItemState,
  type BulkSchema,
  type BulkService,
  BulkState,
  type PrepareBulkRequest,
  type ReportBulkItemsRequest,
} from '@methods/proto/scheduler/v1/bulk_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { isFinal } from '../run/run.ts';
import type { BulkCandidate, BulkCandidates } from '../store/bulk-candidates.ts';
import type { BulkAction as ActionName, BulkItemRow, BulkRow, BulkStore } from '../store/bulk-store.ts';
import type { RunPlace } from '../store/run-lists.ts';
import { selectionOf } from './lists.ts';
import type { RestedTurns } from './rested-turns.ts';

const OPEN_MAX = 20;
const RUNS_MAX = 50_000;
const NAMED_MAX = 1_000;
/** 5,000 runs each. */
const PAGES_MAX = 60;
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const TAKEN_MAX = 200;
const IDLE_MAX = 100;
const SWEPT_MAX = 2;

const ACTIONS: Partial<Record<BulkAction, ActionName>> = {
  [BulkAction.CANCEL]: 'cancel',
  [BulkAction.RERUN]: 'rerun',
  [BulkAction.RERUN_FAILED_STEP]: 'rerun_failed_step',
};
const ACTION_NUMBERS = {
  cancel: BulkAction.CANCEL,
  rerun: BulkAction.RERUN,
  rerun_failed_step: BulkAction.RERUN_FAILED_STEP,
} as const;
const STATES = {
  prepared: BulkState.PREPARED,
  running: BulkState.RUNNING,
  done: BulkState.DONE,
  stopped: BulkState.STOPPED,
} as const;
const ITEM_STATES = {
  todo: BulkItemState.LEFT,
  done: BulkItemState.DONE,
  failed: BulkItemState.FAILED,
} as const;

type Candidates = { readonly runIds: RunId[]; readonly passedOver: Record<string, number>; readonly more: boolean };

export class BulkRpc {
  constructor(
    private readonly options: {
      readonly store: BulkStore;
      readonly candidates: BulkCandidates;
      readonly turns: Pick<RestedTurns, 'run'>;
    },
  ) {}

  readonly handlers: ServiceImplementation<typeof BulkService> = {
    prepareBulk: (request) => stored(() => this.prepare(request)),
    startBulk: (request) => stored(() => this.move(request, ['prepared'], 'running', byJsonOf(request))),
    stopBulk: (request) => stored(() => this.move(request, ['prepared', 'running'], 'stopped', null)),
    getBulk: (request) => stored(async () => ({ bulk: bulkMessage(present(await this.find(request))) })),
    listBulks: ({ orgId, cursor, limit }) => stored(() => this.list(orgId, cursor, limitOf(limit))),
    listBulkItems: (request) =>
      stored(async () => {
        present(await this.find(request));
        const after = /^\d{1,9}$/.test(request.cursor) ? Number(request.cursor) : 0;
        const [limit, state] = [limitOf(request.limit), itemStateName(request.state)];
        const rows = await this.options.store.items(addressOf(request), state, after, limit + 1);
        const next = rows.length > limit ? String(rows[limit - 1]?.position ?? '') : '';
        return { items: rows.slice(0, limit).map(itemMessage), nextCursor: next };
      }),
    takeBulkItems: (request) =>
      stored(async () => {
        const { driver, limit } = request;
        const taken = await this.options.store.take(addressOf(request), driver, Math.min(limit || 1, TAKEN_MAX));
        return taken === null ? {} : { items: taken.items.map(itemMessage), bulk: bulkMessage(taken.bulk) };
      }),
    reportBulkItems: (request) => stored(() => this.report(request)),
    findIdleBulks: ({ limit }) =>
      stored(async () => {
        await this.options.store.sweep(SWEPT_MAX);
        const rows = await this.options.store.idle(Math.min(limit || 1, IDLE_MAX));
        return { bulks: rows.map(({ org_id: orgId, bulk_id: bulkId }) => ({ orgId, bulkId })) };
      }),
  };

  private async prepare(request: PrepareBulkRequest) {
    const { orgId } = request;
    const [action, byJson] = [ACTIONS[request.action], byJsonOf(request)];
    if (!isId('org', orgId)) throw new ServiceError('not_found');
    if (action === undefined || byJson === null) throw new ServiceError('invalid_request', 'The request is not whole.');
    const { store, turns } = this.options;
    if ((await store.countOpen(orgId, OPEN_MAX)) >= OPEN_MAX) {
      throw overShare('changes of many runs', { share: 'organization', max: OPEN_MAX });
    }
    const found = await turns.run(orgId, () => this.candidates(request, action));
    const row = await store.add({ bulkId: newId('bulk'), orgId, action, byJson, ...found });
    return { bulk: bulkMessage(row) };
  }

  private async candidates(request: PrepareBulkRequest, action: ActionName): Promise<Candidates> {
    const { orgId, runs } = request;
    const [runIds, passedOver]: [RunId[], Record<string, number>] = [[], {}];
    const passOver = (reason: string, count = 1) => {
      passedOver[reason] = (passedOver[reason] ?? 0) + count;
    };
    const sort = (candidate: BulkCandidate) => {
      const reason = reasonToPassOver(candidate, action);
      if (reason === null) runIds.push(candidate.runId);
      else passOver(reason);
    };
    if (request.runIds.length > 0) {
      const ids = [...new Set(request.runIds)].slice(0, NAMED_MAX);
      const found = await this.options.candidates.named(orgId, ids);
      found.forEach(sort);
      if (found.length < ids.length) passOver('not_found', ids.length - found.length);
      return { runIds, passedOver, more: false };
    }
    const selection = selectionOf(runs);
    if (selection.orgId !== orgId) throw new ServiceError('not_found');
    let after: RunPlace | null = null;
    for (let pages = 0; pages < PAGES_MAX && runIds.length < RUNS_MAX; pages++) {
      const page: Awaited<ReturnType<BulkCandidates['matching']>> = await this.options.candidates.matching({
        ...selection,
        after,
      });
      page.runs.forEach(sort);
      after = page.next;
      if (after === null) break;
    }
    const isFull = runIds.length > RUNS_MAX;
    return { runIds: runIds.slice(0, RUNS_MAX), passedOver, more: after !== null || isFull };
  }

  private async move(
    request: { orgId: OrgId; bulkId: BulkId },
    from: Parameters<BulkStore['move']>[1],
    to: 'running' | 'stopped',
    byJson: string | null,
  ) {
    const row = isAddress(request) ? await this.options.store.move(request, from, to, byJson) : null;
    return { bulk: bulkMessage(present(row)) };
  }

  private async find(request: { orgId: OrgId; bulkId: BulkId }): Promise<BulkRow | null> {
    return isAddress(request) ? this.options.store.find(addressOf(request)) : null;
  }

  private async list(orgId: OrgId, cursor: string, limit: number) {
    if (!isId('org', orgId)) throw new ServiceError('not_found');
    const rows = await this.options.store.list(orgId, isId('bulk', cursor) ? cursor : '', limit + 1);
    const next = rows.length > limit ? (rows[limit - 1]?.bulk_id ?? '') : '';
    return { bulks: rows.slice(0, limit).map(bulkMessage), nextCursor: next };
  }

  private async report(request: ReportBulkItemsRequest) {
    const items = request.items.slice(0, TAKEN_MAX).map(({ position, state, reason, newRunId }) => ({
      ...{ position, reason, new_run_id: newRunId as RunId | '' },
      state: itemStateName(state) ?? 'todo',
    }));
    await this.options.store.report(addressOf(request), items);
    return {};
  }
}

/** Null: the action applies to the run as it is now. */
function reasonToPassOver({ status, onDevice, hasWebhook }: BulkCandidate, action: ActionName): string | null {
  if (action === 'cancel') return isFinal(status) ? 'finished' : null;
  if (!isFinal(status)) return 'not_finished';
  if (action === 'rerun_failed_step' && status !== 'failed') return 'not_failed';
  // Only a program with its content key starts such a run, and only one with a service key a run with a webhook.
  if (onDevice) return 'on_device';
  return hasWebhook ? 'webhook' : null;
}

async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageFault(error);
  }
}

/** Null: the request names no person. */
function byJsonOf({ by, ip, requestId }: Pick<PrepareBulkRequest, 'by' | 'ip' | 'requestId'>): string | null {
  if (by === undefined) return null;
  const { $typeName: _, ...actor } = by;
  return JSON.stringify({ actor, ip, requestId });
}

function isAddress({ orgId, bulkId }: { orgId: OrgId; bulkId: BulkId }): boolean {
  return isId('org', orgId) && isId('bulk', bulkId);
}

function addressOf({ orgId, bulkId }: { orgId: OrgId; bulkId: BulkId }) {
  return { orgId, bulkId };
}

function present(row: BulkRow | null): BulkRow {
  if (row === null) throw new ServiceError('not_found', 'There is no such change.');
  return row;
}

function limitOf(limit: number): number {
  return Math.min(limit || LIMIT_DEFAULT, LIMIT_MAX);
}

function itemStateName(state: BulkItemState): BulkItemRow['state'] | null {
  for (const [name, number] of Object.entries(ITEM_STATES)) if (number === state) return name as BulkItemRow['state'];
  return null;
}

function itemMessage(row: BulkItemRow): MessageInitShape<typeof BulkItemSchema> {
  const { position, run_id: runId, state, reason, new_run_id: newRunId } = row;
  return { position, runId, state: ITEM_STATES[state], reason, newRunId };
}

function bulkMessage(row: BulkRow): MessageInitShape<typeof BulkSchema> {
  const { actor, ip, requestId } = JSON.parse(row.by_json);
  return {
    ...{ bulkId: row.bulk_id, action: ACTION_NUMBERS[row.action], state: STATES[row.state] },
    ...{ by: actor, ip, requestId },
    createdAtMs: row.created_at_ms,
    startedAtMs: row.started_at_ms ?? 0,
    finishedAtMs: row.finished_at_ms ?? 0,
    ...{ total: row.total, done: row.done, failed: row.failed, more: row.more },
    passedOver: Object.entries<number>(JSON.parse(row.passed_over_json)).map(([reason, count]) => ({ reason, count })),
  };
}
