// /api/bulk: changes of many runs. One is prepared first, which fixes its runs and says how many are passed over; once
// started it continues by itself, and anyone may follow or stop it.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type BulkId, isId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import {
  BulkAction,
  type BulkItem,
  BulkItemState,
  type Bulk as BulkMessage,
  BulkState,
} from '@methods/proto/scheduler/v1/bulk_service_pb';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { clientAddress } from '../../callers/surface.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { actorOf } from '../../plugins/request-actor.ts';
import { timeView } from '../../views/party-view.ts';
import { partyJson } from '../../views/question-view.ts';
import { pageOf } from '../methods/method-schemas.ts';
import { pageRequest, readLimit } from '../page-query.ts';
import { NoQuery, refuseFields, replies } from '../reply-schemas.ts';
import { filterOf } from '../runs/run-filter.ts';
import type { RunRouteParts } from '../runs/run-reply.ts';
import { BulkDriver } from './bulk-driver.ts';
import {
  type ActionName,
  Bulk,
  BulkParams,
  BulksQuery,
  Item,
  type ItemStateName,
  ItemsQuery,
  OneBulk,
  PrepareBody,
  type StateName,
} from './bulk-schemas.ts';
import { type ChangeParts, changeRun } from './change-run.ts';

export type BulkRouteParts = ChangeParts & Pick<RunRouteParts, 'reads' | 'logger'>;

/** Its runs are looked for, a page at a time. */
const PREPARE_MS = 30_000;

const ACTION_NUMBERS: Record<ActionName, BulkAction> = {
  cancel: BulkAction.CANCEL,
  rerun: BulkAction.RERUN,
  rerun_failed_step: BulkAction.RERUN_FAILED_STEP,
};
const STATE_NAMES: Partial<Record<BulkState, StateName>> = {
  [BulkState.PREPARED]: 'prepared',
  [BulkState.RUNNING]: 'running',
  [BulkState.DONE]: 'done',
  [BulkState.STOPPED]: 'stopped',
};
const ITEM_STATE_NUMBERS: Record<ItemStateName, BulkItemState> = {
  todo: BulkItemState.LEFT,
  done: BulkItemState.DONE,
  failed: BulkItemState.FAILED,
};

/** In the scope `api`. */
export function addBulkRoutes(scope: FastifyInstance, parts: BulkRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const { bulk: calls } = parts.reads;
  const driver = new BulkDriver({
    calls,
    change: (orgId, bulk, item) => changeRun(parts, orgId, bulk, item),
    clock: parts.clock,
    logger: parts.logger.child({ part: 'bulk' }),
  });
  scope.addHook('onReady', async () => driver.start());
  scope.addHook('onClose', async () => driver.stop());

  const prepare = {
    ...described('prepareBulk', 'Prepare a change of many runs'),
    description:
      'Fixes its runs, `run_ids` or all that match `filter`, and changes none: start it by its id within a day. An ' +
      'organization has at most 20 that are prepared or running.',
    querystring: NoQuery,
    body: PrepareBody,
    response: replies({ 201: OneBulk }),
  };
  typed.post('/api/bulk', { schema: prepare, config: { access: 'member' } }, async (request, reply) => {
    const { orgId } = callerOf(request);
    const asked = {
      orgId,
      ...whoOf(request),
      action: ACTION_NUMBERS[request.body.action],
      ...runsOf(request.body, orgId),
    };
    const { bulk } = await calls.prepare(asked, { timeoutMs: PREPARE_MS });
    reply.code(201).header('content-type', JSON_TYPE);
    return oneJson(bulk);
  });

  const list = {
    ...described('listBulks', 'List changes of many runs, newest first'),
    querystring: BulksQuery,
    response: replies({ 200: pageOf(Bulk) }),
  };
  const listing = { schema: list, config: { access: 'viewer' }, preValidation: readLimit } as const;
  typed.get('/api/bulk', listing, async (request, reply) => {
    const { orgId } = callerOf(request);
    const { bulks, nextCursor } = await calls.list({ orgId, ...pageRequest(request.query) });
    reply.header('content-type', JSON_TYPE);
    return `{"items":[${bulks.map(bulkJson).join(',')}],"next_cursor":${JSON.stringify(nextCursor || null)}}`;
  });

  const get = {
    ...described('getBulk', 'Follow a change of many runs'),
    params: BulkParams,
    querystring: NoQuery,
    response: replies({ 200: OneBulk }),
  };
  typed.get('/api/bulk/:id', { schema: get, config: { access: 'viewer' } }, async (request, reply) => {
    const { bulk } = await calls.get({ orgId: callerOf(request).orgId, bulkId: bulkIdOf(request.params) });
    reply.header('content-type', JSON_TYPE);
    return oneJson(bulk);
  });

  const items = {
    ...described('listBulkItems', 'List the runs of a change'),
    params: BulkParams,
    querystring: ItemsQuery,
    response: replies({ 200: pageOf(Item) }),
  };
  const itemListing = { schema: items, config: { access: 'viewer' }, preValidation: readLimit } as const;
  typed.get('/api/bulk/:id/items', itemListing, async (request, reply) => {
    const { state } = request.query;
    const found = await calls.items({
      ...{ orgId: callerOf(request).orgId, bulkId: bulkIdOf(request.params), ...pageRequest(request.query) },
      state: state === undefined ? BulkItemState.UNSPECIFIED : ITEM_STATE_NUMBERS[state],
    });
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({ items: found.items.map(itemView), next_cursor: found.nextCursor || null });
  });

  const start = {
    ...described('startBulk', 'Start a prepared change of many runs'),
    description:
      'In the name of the caller. It continues in the background, also while gateways restart. A repeat changes nothing.',
    params: BulkParams,
    querystring: NoQuery,
    response: replies({ 200: OneBulk }),
  };
  typed.post('/api/bulk/:id/start', { schema: start, config: { access: 'member' } }, async (request, reply) => {
    refuseFields(request.body, 'A start');
    const { orgId } = callerOf(request);
    const bulkId = bulkIdOf(request.params);
    // Not in the name of who prepared it: `not_starter` bars the person who starts the runs.
    const { bulk } = await calls.start({ orgId, bulkId, ...whoOf(request) });
    if (bulk?.state === BulkState.RUNNING) driver.begin(orgId, bulkId);
    reply.header('content-type', JSON_TYPE);
    return oneJson(bulk);
  });

  const stop = {
    ...described('stopBulk', 'Stop a change of many runs'),
    description: 'What is done stays done; a few runs may still be changed. A repeat changes nothing.',
    params: BulkParams,
    querystring: NoQuery,
    response: replies({ 200: OneBulk }),
  };
  typed.post('/api/bulk/:id/stop', { schema: stop, config: { access: 'member' } }, async (request, reply) => {
    refuseFields(request.body, 'A stop');
    const { bulk } = await calls.stop({ orgId: callerOf(request).orgId, bulkId: bulkIdOf(request.params) });
    reply.header('content-type', JSON_TYPE);
    return oneJson(bulk);
  });
}

function whoOf(request: FastifyRequest) {
  return { by: actorOf(request), ip: clientAddress(request), requestId: request.id };
}

function described(operationId: string, summary: string) {
  return { operationId, summary, tags: ['runs of users'] };
}

/** @throws ServiceError invalid_request */
function runsOf({ run_ids: ids, filter }: Static<typeof PrepareBody>, orgId: BulkTarget) {
  if ((ids === undefined) === (filter === undefined)) {
    const message = 'Name either "run_ids" or a "filter".';
    throw new ServiceError('invalid_request', message, { findings: [{ path: '/run_ids', code: 'runs', message }] });
  }
  // An id of another kind names no run, like an unknown one.
  if (ids !== undefined) return { runIds: ids.map((id) => (isId('run', id) ? id : NO_RUN)) };
  const { metadata = {}, ...fields } = filter ?? {};
  const pairs = Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value]);
  const found = filterOf({ ...fields, ...Object.fromEntries(pairs) });
  // A filter that nothing can match still makes a change, of no runs.
  return found === null ? { runIds: [NO_RUN] } : { runs: { orgId, ...found } };
}

type BulkTarget = ReturnType<typeof callerOf>['orgId'];
const NO_RUN: RunId = 'run_none';

function bulkIdOf({ id }: { readonly id: string }): BulkId {
  if (!isId('bulk', id)) throw new ServiceError('not_found', 'There is no such change.');
  return id;
}

function oneJson(bulk: BulkMessage | undefined): string {
  if (bulk === undefined) throw new ServiceError('internal');
  return `{"bulk":${bulkJson(bulk)}}`;
}

function bulkJson(bulk: BulkMessage): string {
  const { action, state, total, done, failed, passedOver, more } = bulk;
  const view = {
    id: bulk.bulkId,
    action: Object.entries(ACTION_NUMBERS).find(([, number]) => number === action)?.[0] ?? 'cancel',
    state: STATE_NAMES[state] ?? 'prepared',
    created_at: timeView(bulk.createdAtMs),
    started_at: timeView(bulk.startedAtMs),
    finished_at: timeView(bulk.finishedAtMs),
    counts: { total, todo: Math.max(0, total - done - failed), done, failed },
    passed_over: passedOver.map(({ reason, count }) => ({ reason, count })),
    more,
  };
  return `${JSON.stringify(view).slice(0, -1)},"by":${partyJson(bulk.by)}}`;
}

function itemView({ runId, state, reason, newRunId }: BulkItem) {
  return {
    run_id: runId,
    state: Object.entries(ITEM_STATE_NUMBERS).find(([, number]) => number === state)?.[0] ?? 'todo',
    reason: reason || null,
    new_run_id: newRunId || null,
  };
}
