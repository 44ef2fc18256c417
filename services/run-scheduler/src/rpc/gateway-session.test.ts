import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { systemClock } from '@methods/base/clock';
import { newRunId, type OrgId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { createLogger } from '@methods/logging/logger';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { type GatewayItem, GatewayItemSchema } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { FrameConnection } from '@methods/rpc/frame-stream';
import { until } from '@methods/test/harness/until';
import { runs } from '../run/run.fixture.ts';
import type { Run } from '../run/run.ts';
import { ANY_RUN } from '../store/run-filter.ts';
import type { RunPage, RunSelection } from '../store/run-lists.ts';
import { type RunViewMessage, runView } from '../wire/run-message.ts';
import { type GatewayServices, GatewaySession, type NodeItemInit } from './gateway-session.ts';
import { OrganizationFollowers } from './organization-followers.ts';
import { RunWatchers } from './run-watchers.ts';

describe("a gateway's calls", () => {
  let row: Run | null;
  let watchers: RunWatchers;
  let got: NodeItemInit[];
  let start: GatewayServices['start'];
  let session: GatewaySession;
  let nextCall: number;
  let reads: number;
  /** The state of an actor of this node. */
  let resident: Run | null;
  let answer: () => Promise<RunViewMessage>;
  let lists: (selection: RunSelection) => RunPage;

  beforeEach(() => {
    row = null;
    got = [];
    nextCall = 1;
    reads = 0;
    resident = null;
    answer = async () => Promise.reject(new ServiceError('run_not_waiting'));
    watchers = new RunWatchers({
      clock: systemClock,
      shardCount: 4,
      owns: () => true,
      read: async () => row,
      shardWatched: () => {},
      stepsWatched: () => {},
    });
    start = async () => Promise.reject(new ServiceError('unavailable'));
    const services = {
      actors: {
        read: async () => {
          reads++;
          return row;
        },
        resident: ({ orgId }: { orgId: OrgId }) => (resident?.facts.orgId === orgId ? resident : null),
        place: async () => row && { orgId: row.facts.orgId, revision: row.revision },
      },
      answers: { answer: () => answer() },
      owners: {},
      watchers,
      followers: new OrganizationFollowers(systemClock),
      interests: { whyQueued: () => null },
      lists: { page: async (selection: RunSelection) => lists(selection) },
      start: (...args: Parameters<GatewayServices['start']>) => start(...args),
      logger: createLogger({ name: 'test', level: 'silent' }),
    } as unknown as GatewayServices;
    const connection = { send: (item: NodeItemInit) => got.push(item) > 0 };
    session = new GatewaySession(connection as unknown as FrameConnection<NodeItemInit>, services);
  });

  type Item = NonNullable<MessageInitShape<typeof GatewayItemSchema>['item']>;

  async function call(item: Item, unwatched = false): Promise<NodeItemInit> {
    const callId = nextCall++;
    session.received([create(GatewayItemSchema, { callId, item, unwatched }) as GatewayItem]);
    return until('the call is answered', () => got.find((reply) => reply.callId === callId));
  }

  function as(runId: RunId): Run {
    return { ...runs.succeeded, facts: { ...runs.succeeded.facts, runId } };
  }

  const pushes = () => got.filter((item) => item.callId === 0).length;

  test('a start is wanted until its time has passed or its gateway has gone', async () => {
    const wanted: (() => boolean)[] = [];
    start = async (_request, _deadlineMs, _onId, isWanted) => {
      wanted.push(isWanted);
      throw new ServiceError('unavailable');
    };
    const item = { case: 'start' as const, value: {} };
    session.received([
      create(GatewayItemSchema, { callId: 1, deadlineMs: 1, item }) as GatewayItem,
      create(GatewayItemSchema, { callId: 2, deadlineMs: 60_000, item }) as GatewayItem,
      create(GatewayItemSchema, { callId: 3, item }) as GatewayItem,
    ]);
    const all = () => wanted.map((isWanted) => isWanted());
    await until('the first is over', () => all()[0] === false);
    assert.deepEqual(all(), [false, true, true]);
    session.closed();
    assert.deepEqual(all(), [false, false, false]);
  });

  test('watches a run before anything can happen to it', async () => {
    const runId = newRunId(0);
    start = async (_request, _deadlineMs, onId) => {
      onId(runId);
      setImmediate(() => watchers.committed(null, as(runId)));
      return { view: () => runView({ ...runs.queued, facts: as(runId).facts }), replayed: false };
    };
    const { item } = await call({ case: 'start', value: {} });
    assert.equal(item?.case === 'run' && item.value.run?.status, RunStatus.QUEUED);
    await until('its rest is pushed', () => pushes() === 1);
  });

  test('a run that rests before its start is replied to is sent once, in the reply, as it rests', async () => {
    const runId = newRunId(0);
    start = async (_request, _deadlineMs, onId) => {
      onId(runId);
      watchers.committed(null, as(runId));
      return { view: () => assert.fail('an older state is not written'), replayed: false };
    };
    const { item } = await call({ case: 'start', value: {} });
    assert.equal(item?.case === 'run' && item.value.run?.status, RunStatus.SUCCEEDED);
    assert.equal(pushes(), 0);
  });

  for (const [what, outcome] of [
    ['was refused', async () => Promise.reject(new ServiceError('idempotency_conflict'))],
    ['repeated an earlier one', async () => ({ view: () => runView(as(newRunId(0))), replayed: true })],
  ] as const) {
    test(`a start that ${what} leaves no watch behind`, async () => {
      const runId = newRunId(0);
      start = async (_request, _deadlineMs, onId) => {
        onId(runId);
        return outcome();
      };
      await call({ case: 'start', value: {} });
      watchers.committed(null, as(runId));
      assert.equal(pushes(), 0);
    });
  }

  test('a watch of a missing run leaves nothing behind either', async () => {
    const runId = newRunId(0);
    const reply = await call({ case: 'watch', value: { runId, orgId: 'org_a' } });
    assert.equal(reply.item?.case, 'error');
    watchers.committed(null, as(runId));
    assert.equal(pushes(), 0);
  });

  test('an unchanged run that is requested again is not read, and still watched', async () => {
    const runId = newRunId(0);
    row = as(runId);
    const { orgId } = row.facts;
    const watch = async (knownRevision: number, of = orgId) => {
      const { item } = await call({ case: 'watch', value: { runId, orgId: of, knownRevision } });
      return item?.case === 'run' ? [item.value.run?.runId, item.value.run?.revision, reads] : [item?.case, reads];
    };
    assert.deepEqual(await watch(row.revision), [runId, row.revision, 0]);
    watchers.committed(null, as(runId));
    assert.equal(pushes(), 1);
    assert.deepEqual(await watch(row.revision - 1), [runId, row.revision, 1]);
    assert.deepEqual(await watch(row.revision, 'org_b'), ['error', 2]);
  });

  test('a run that continues at this node is watched without a read; one at rest, or watched step by step, with one', async () => {
    const runId = newRunId(0);
    const { facts } = as(runId);
    row = as(runId);
    const watch = async (of = facts.orgId, steps = false) => {
      const { item } = await call({ case: 'watch', value: { runId, orgId: of, steps } });
      return item?.case === 'run' ? [item.value.run?.status, reads] : [item?.case, reads];
    };
    resident = { ...runs.running, facts };
    assert.deepEqual(await watch(), [RunStatus.RUNNING, 0]);
    watchers.committed(null, row);
    assert.equal(pushes(), 1);
    assert.deepEqual(await watch('org_b'), ['error', 1]);
    resident = { ...runs.waiting, facts };
    assert.deepEqual(await watch(), [RunStatus.SUCCEEDED, 2]);
    resident = { ...runs.running, facts };
    assert.deepEqual(await watch(facts.orgId, true), [RunStatus.SUCCEEDED, 3]);
  });

  test('an answer pushes the next rest, unless no caller waits or the answer is refused', async () => {
    const runId = newRunId(0);
    const { facts } = as(runId);
    const value = { runId, orgId: facts.orgId };
    assert.equal((await call({ case: 'answer', value })).item?.case, 'error');
    watchers.committed(null, as(runId));
    assert.equal(pushes(), 0);
    answer = async () => runView({ ...runs.queued, facts });
    await call({ case: 'answer', value }, true);
    watchers.committed(null, as(runId));
    assert.equal(pushes(), 0);
    await call({ case: 'answer', value });
    watchers.committed(null, { ...runs.waiting, facts, revision: runs.queued.revision + 1 });
    watchers.committed(null, as(runId));
    assert.equal(pushes(), 1);
  });

  test('a refused answer without a waiting caller leaves the watch of another one', async () => {
    const { facts } = as(newRunId(0));
    const item = { case: 'answer', value: { runId: facts.runId, orgId: facts.orgId } } as const;
    answer = () => until('the question is pushed late', () => pushes() === 1 && runView({ ...runs.queued, facts }));
    const taken = call(item);
    answer = () => Promise.reject(new ServiceError('not_an_answerer'));
    await call(item, true);
    watchers.committed(null, { ...runs.waiting, facts });
    await taken;
    watchers.committed(null, { ...runs.waiting, facts, revision: runs.queued.revision + 1 });
    assert.equal(pushes(), 2);
  });

  test('the reply to an answer says whether the next rest is pushed', async () => {
    const runId = newRunId(0);
    const { facts } = as(runId);
    const told = async (unwatched = false) => {
      const { item } = await call({ case: 'answer', value: { runId, orgId: facts.orgId } }, unwatched);
      return item?.case === 'run' ? item.value.watched : item?.case;
    };
    answer = async () => runView({ ...runs.queued, facts });
    assert.equal(await told(true), false);
    assert.equal(await told(), true);
    assert.equal(await told(), true);
    watchers.committed(null, as(runId));
    assert.equal(pushes(), 1);
  });

  test('a repeated answer to a run at rest leaves no watch behind', async () => {
    for (const rested of [runs.succeeded, runs.waiting]) {
      const runId = newRunId(0);
      const { orgId } = rested.facts;
      answer = async () => runView({ ...rested, facts: { ...rested.facts, runId } });
      const { item } = await call({ case: 'answer', value: { runId, orgId } });
      assert.ok(item?.case === 'run' && item.value.watched === false);
      watchers.committed(null, as(runId));
    }
    assert.equal(pushes(), 0);
  });

  test('a refused answer does not end an earlier watch', async () => {
    const runId = newRunId(0);
    row = { ...runs.waiting, facts: as(runId).facts };
    const value = { runId, orgId: row.facts.orgId };
    await call({ case: 'watch', value });
    await call({ case: 'answer', value });
    watchers.committed(null, as(runId));
    assert.equal(pushes(), 1);
  });

  test("another organization's run is missing", async () => {
    const runId = newRunId(0);
    row = as(runId);
    const replies = [
      await call({ case: 'get', value: { runId, orgId: 'org_b' } }),
      await call({ case: 'watch', value: { runId, orgId: 'org_b' } }),
      await call({ case: 'get', value: { runId: 'run_!', orgId: 'org_b' } }),
    ];
    for (const { item } of replies) {
      assert.ok(item?.case === 'error');
      assert.equal(item.value.code, 'not_found');
    }
  });

  test('a page of runs says where the next one begins, and a sleeping run counts as queued', async () => {
    const asked: RunSelection[] = [];
    const runId = newRunId(0);
    lists = (selection) => {
      asked.push(selection);
      return { runs: [], next: { createdAtMs: 1_700_000_000_000, runId }, searchedToMs: 1_700_000_000_000 };
    };
    const first = await call({ case: 'list', value: { orgId: 'org_a', status: RunStatus.QUEUED, limit: 10 } });
    assert.ok(first.item?.case === 'page');
    const cursor = first.item.value.nextCursor ?? '';
    assert.equal(first.item.value.searchedToMs, 1_700_000_000_000);
    await call({ case: 'list', value: { orgId: 'org_a', cursor, method: 'wf_1', createdAfterMs: 5 } });
    assert.deepEqual(asked, [
      {
        ...{ ...ANY_RUN, orgId: 'org_a', after: null, limit: 10, statuses: ['queued', 'sleeping'] },
        ...{ createdAfterMs: null, createdBeforeMs: null, rerunOf: '' },
      },
      {
        ...{ ...ANY_RUN, orgId: 'org_a', limit: 50, method: 'wf_1' },
        after: { createdAtMs: 1_700_000_000_000, runId },
        ...{ createdAfterMs: 5, createdBeforeMs: null, rerunOf: '' },
      },
    ]);
  });

  test('refuses a foreign cursor and reports an unavailable database, each by its code', async () => {
    lists = () => ({ runs: [], next: null, searchedToMs: null });
    const base64 = (text: string) => Buffer.from(text).toString('base64url');
    for (const cursor of ['x', '!', base64('1/run_1'), base64(`a/${newRunId(0)}`), base64(`1/${newRunId(0)}/`)]) {
      const { item } = await call({ case: 'list', value: { orgId: 'org_a', cursor } });
      assert.ok(item?.case === 'error' && item.value.code === 'invalid_request', cursor);
    }
    const faults = {
      CONNECTION_CLOSED: 'unavailable',
      57014: 'unavailable',
      '22P05': 'invalid_request',
      42703: 'internal',
    };
    for (const [code, told] of Object.entries(faults)) {
      lists = () => {
        throw Object.assign(new Error('not told'), { code });
      };
      const { item } = await call({ case: 'list', value: { orgId: 'org_a' } });
      assert.ok(item?.case === 'error' && item.value.code === told, code);
    }
  });

  test('refuses only the call of an unknown kind, and reports a fault of ours without its cause', async () => {
    const unknown = await call({ case: undefined } as unknown as Item);
    assert.ok(unknown.item?.case === 'error' && unknown.item.value.code === 'invalid_request');
    start = async () => Promise.reject(new TypeError('a secret of ours'));
    const fault = await call({ case: 'start', value: {} });
    assert.ok(fault.item?.case === 'error');
    assert.equal(fault.item.value.code, 'internal');
    assert.ok(!JSON.stringify(fault.item.value).includes('secret'));
  });

  test('the start of a run is returned as another start, only to its organization', async () => {
    const runId = newRunId(1);
    const { facts } = as(runId);
    row = {
      ...as(runId),
      facts: { ...facts, webhookUrl: 'https://example.com/', keyId: 'key_a', needs: 'browser,git' },
    };
    const { item } = await call({ case: 'getStart', value: { orgId: facts.orgId, runId } });
    assert.ok(item?.case === 'start');
    const { method, versionId, inputsJson, webhookUrl, keyId, needs, idempotencyHash } = item.value;
    assert.deepEqual([method, versionId, inputsJson], [facts.method, facts.versionId, facts.inputsJson]);
    assert.deepEqual([webhookUrl, keyId, needs], ['https://example.com/', 'key_a', ['browser', 'git']]);
    assert.equal(idempotencyHash, undefined);
    const foreign = await call({ case: 'getStart', value: { orgId: 'org_other', runId } });
    assert.equal(foreign.item?.case, 'error');
  });

  test('a run that is watched step by step is pushed at every change', async () => {
    const runId = newRunId(1);
    row = { ...runs.running, facts: as(runId).facts };
    await call({ case: 'watch', value: { orgId: row.facts.orgId, runId, steps: true } });
    watchers.committed(null, row);
    assert.equal(pushes(), 1);
  });
});
