import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { type KeyId, newId, newRunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { until } from '@methods/test/harness/until';
import { ManualClock } from '../manual-clock.fixture.ts';
import { type ClaimOffer, CountedWaiters } from '../queue/counted-waiters.fixture.ts';
import { HelloPace } from './hello-pace.ts';
import type { OwnerLink } from './owner-link.ts';
import { KnownMethods, WorkerAdmission } from './worker-admission.ts';
import type { WorkerSessions } from './worker-sessions.ts';
import { quietSessions, Stream } from './worker-stream.fixture.ts';

const FINGERPRINT = Buffer.alloc(16, 0xaa);
const queueOf = (keyId: KeyId) => `wf_a@${keyId}.${'aa'.repeat(16)}` as const;

describe('workers with content keys', () => {
  let waiters: CountedWaiters;
  let sessions: WorkerSessions;
  let offers: ClaimOffer[];
  const [own, other] = [newId('key'), newId('key')];

  beforeEach(() => {
    const clock = new ManualClock();
    offers = [];
    const send = (_node: string, offer: ClaimOffer) => offers.push(offer) > 0;
    waiters = new CountedWaiters({ nodeId: 'here', clock, send, interestChanged: () => {} });
    const methods = new KnownMethods({ find: async (_orgId, names) => [...names] });
    const admission = new WorkerAdmission({ pace: new HelloPace(clock), methods, waiters });
    const owners = { workerSeen: () => {}, report: () => {} } as unknown as OwnerLink;
    sessions = quietSessions(clock, { waiters, admission, owners });
  });

  function hello(deviceKeyIds: readonly string[], registry: Stream['registry'] = null, fingerprints?: Buffer[]) {
    const stream = new Stream(sessions, 'org_a', own);
    stream.registry = registry;
    return stream.hello({ deviceKeyIds, deviceKeyFingerprints: fingerprints ?? deviceKeyIds.map(() => FINGERPRINT) });
  }
  const asked = () => waiters.interest().map(({ method }) => method);
  const answered = (stream: Stream) =>
    until('it is answered', () => stream.closed !== null || stream.of('welcome').length > 0);

  test('a worker asks for runs of its own content key, beside those without one', async () => {
    await answered(hello([own]));
    assert.deepEqual(asked(), ['wf_a', queueOf(own)]);
  });

  test('a worker that names a key that is neither its own nor granted to it is refused, and asks for nothing', async () => {
    const stream = hello([own, other]);
    await answered(stream);
    assert.ok(stream.closed instanceof ServiceError);
    assert.equal(stream.closed.code, 'forbidden');
    assert.ok(!stream.closed.message.includes(other));
    assert.deepEqual(asked(), []);
  });

  test('a key that was granted a moment ago is found in the registry', async () => {
    const contentGrants = [{ fromKeyId: other, wrapped: new Uint8Array(90) }];
    const stream = hello([own, other], async () => ({ orgId: 'org_a', keyId: own, contentGrants }));
    await answered(stream);
    assert.deepEqual(asked(), ['wf_a', queueOf(own), queueOf(other)]);
  });

  test('a person, who has no content key, is refused with what is missing', async () => {
    const stream = new Stream(sessions, 'org_a', own, 'a token');
    stream.hello({ deviceKeyIds: [own], deviceKeyFingerprints: [FINGERPRINT] });
    await answered(stream);
    assert.ok(stream.closed instanceof ServiceError);
    assert.equal(stream.closed.code, 'device_key_required');
    assert.deepEqual(asked(), []);
  });

  test('without the registry such a worker is asked to come again, not refused', async () => {
    const stream = hello([other], () => Promise.reject(new ServiceError('unavailable')));
    await answered(stream);
    assert.ok(stream.closed instanceof ServiceError);
    assert.equal(stream.closed.code, 'unavailable');
  });

  test('malformed keys are refused', async () => {
    const short = Buffer.alloc(15);
    const bad: [string[], Buffer[]][] = [
      [['key_a'], [FINGERPRINT]],
      [[own], []],
      [[], [FINGERPRINT]],
      [[own], [short]],
      [
        [own, own],
        [FINGERPRINT, Buffer.alloc(16)],
      ],
      [Array.from({ length: 22 }, () => newId('key')), Array.from({ length: 22 }, () => FINGERPRINT)],
    ];
    for (const [ids, fingerprints] of bad) {
      const stream = hello(ids, null, fingerprints);
      await answered(stream);
      assert.ok(stream.closed instanceof ServiceError && stream.closed.code === 'invalid_request', ids.join());
    }
    assert.deepEqual(asked(), []);
  });

  test('a worker that cannot open a run gets no more runs of that key, and still all others', async () => {
    const stream = hello([own]);
    await answered(stream);
    stream.credits(1);
    const headOf = (method: ClaimOffer['key']['method']) =>
      waiters.headChanged('owner', { orgId: 'org_a', method }, { depth: 1, queuedAtMs: 1, runId: 'run_1' });
    headOf(queueOf(own));
    const [offer] = offers;
    assert.equal(offer?.key.method, queueOf(own));
    const grant = { runId: newRunId(1), token: 't', deviceKeyId: own };
    const { workerSession, creditId } = offer;
    sessions.deliver({ nodeId: 'here', shard: 1, orgId: 'org_a', workerSession, creditId, grant }, 1);
    stream.says({ case: 'giveBack', value: { ...grant, seq: 1, reason: '', cannotOpen: true } });
    stream.credits(1);
    headOf(queueOf(own));
    assert.equal(offers.length, 1);
    headOf('wf_a');
    assert.equal(offers[1]?.key.method, 'wf_a');
  });
});
