// What happens to the streams of a key that changes.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import type { WorkerSessions } from './worker-sessions.ts';
import { quietSessions, Stream } from './worker-stream.fixture.ts';

describe('the key of a worker', () => {
  let sessions: WorkerSessions;

  beforeEach(() => {
    const waiters = { register: () => {} } as Partial<ClaimWaiters> as ClaimWaiters;
    sessions = quietSessions(new ManualClock(), { waiters });
  });

  test('a revoked key ends its streams, including one before its hello, and no others', async () => {
    const [greeted, silent] = [new Stream(sessions).hello(), new Stream(sessions)];
    const other = new Stream(sessions, 'org_a', 'key_other').hello({ workerId: 'b'.repeat(32) });
    greeted.revoked = silent.revoked = true;
    await sessions.keyChanged('key_a');
    assert.deepEqual([greeted.closed, silent.closed, other.closed], ['closed', 'closed', null]);
  });

  test('a worker stays connected when its key was created just before, and not when content was granted to it', async () => {
    const stream = new Stream(sessions).hello();
    await sessions.keyChanged('key_a');
    assert.equal(stream.closed, null);
    const contentGrants = [{ fromKeyId: 'key_b', wrapped: Buffer.from('w') }];
    stream.registry = async () => ({ orgId: 'org_a', keyId: 'key_a', contentGrants });
    await sessions.keyChanged('key_a');
    assert.equal(stream.closed, 'closed');
  });

  test('a changed key ends its streams when the registry is unavailable', async () => {
    const stream = new Stream(sessions).hello();
    stream.check = () => Promise.reject(new ServiceError('unavailable'));
    await sessions.keyChanged('key_a');
    assert.equal(stream.closed, 'closed');
  });

  test('a key whose revocation event was lost is noticed anyway', async () => {
    const [first, second] = [new Stream(sessions).hello(), new Stream(sessions, 'org_a', 'key_b')];
    second.revoked = true;
    await sessions.recheckKeys();
    assert.deepEqual([first.closed, second.closed], [null, 'closed']);
  });

  test('an unavailable registry ends no stream, and is asked about one key at a time', async () => {
    const streams = (['key_a', 'key_b', 'key_c'] as const).map((keyId) => new Stream(sessions, 'org_a', keyId));
    let answer: () => void = () => {};
    for (const stream of streams) {
      stream.check = () =>
        new Promise((_, reject) => {
          answer = () => reject(new ServiceError('unavailable'));
        });
    }
    const rechecks = [sessions.recheckKeys(), sessions.recheckKeys()];
    answer();
    await Promise.all(rechecks);
    assert.deepEqual(
      streams.map((stream) => [stream.closed, stream.checks]),
      [
        [null, 1],
        [null, 0],
        [null, 0],
      ],
    );
    for (const stream of streams) stream.revoked = true;
    for (const stream of streams) stream.check = null;
    await sessions.recheckKeys();
    assert.ok(streams.every((stream) => stream.closed === 'closed'));
  });
});
