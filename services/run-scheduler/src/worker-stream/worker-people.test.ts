import { deepEqual, equal, rejects } from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Role } from '@methods/auth/caller';
import { Issuer } from '@methods/auth/issuer';
import { systemClock } from '@methods/base/clock';
import { ServiceError } from '@methods/errors/service-error';
import { TestIssuer } from '@methods/test/harness/test-issuer';
import { WorkerKeys } from './worker-keys.ts';
import { WorkerPeople } from './worker-people.ts';

const AUDIENCE = 'https://methods.example/api';
const HOUR_MS = 3_600_000;

describe('people who run a worker with their sign-in', () => {
  let issuer: TestIssuer;
  let aheadMs: number;
  let role: Role;
  let registry: 'there' | 'away';
  let asked: number;
  let keys: WorkerKeys;

  before(async () => {
    issuer = await TestIssuer.started();
  });
  after(() => issuer[Symbol.asyncDispose]());

  beforeEach(() => {
    [aheadMs, role, registry, asked] = [0, 'member', 'there', 0];
    const clock = {
      ...systemClock,
      wallMs: () => systemClock.wallMs() + aheadMs,
      monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    };
    const claims = { orgClaim: 'org_id', orgNameClaim: 'org_name', roleClaim: null };
    const people = new WorkerPeople({
      rules: { ...claims, clock, issuer: new Issuer(issuer.url, clock), audiences: [AUDIENCE] },
      memberOf: async ({ externalOrgId, subject }) => {
        asked++;
        if (registry === 'away') throw new ServiceError('unavailable');
        return { orgId: `org_${externalOrgId}`, userId: `usr_${subject}`, role };
      },
    });
    const resolve = () => Promise.reject(new ServiceError('unauthorized'));
    keys = new WorkerKeys({ nowMs: clock.monotonicMs, resolve, people });
  });

  const tokenFor = (claims: Record<string, unknown> = {}) => issuer.token({ aud: AUDIENCE, ...claims });
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'accepted',
      ({ code }: ServiceError) => code,
    );

  test('a token opens a stream of its organization, in the name of its person', async () => {
    const token = await tokenFor();
    const { orgId, keyId } = await keys.ownerOf(`Bearer ${token}`);
    deepEqual([orgId, keyId], ['org_acme', 'usr_ada']);
    await keys.ownerOf(`Bearer ${token}`);
    equal(asked, 1);
  });

  test('viewers are refused, and a member who becomes one within 20 s', async () => {
    const token = await tokenFor();
    await keys.ownerOf(`Bearer ${token}`);
    role = 'viewer';
    aheadMs = 20_000;
    await rejects(keys.ownerOf(`Bearer ${token}`), {
      code: 'forbidden',
      message: 'A worker needs the role member or admin.',
    });
    equal(await codeOf(keys.ownerOf(`Bearer ${await tokenFor({ sub: 'new' })}`)), 'forbidden');
  });

  test('an expired token is refused by name, even while the registry is unavailable', async () => {
    const token = await tokenFor();
    await keys.ownerOf(`Bearer ${token}`);
    registry = 'away';
    aheadMs = HOUR_MS / 2;
    equal(await codeOf(keys.ownerOf(`Bearer ${token}`)), 'accepted');
    aheadMs = HOUR_MS + 6_000;
    const expired = { code: 'unauthorized', message: 'The access token has expired.' };
    await rejects(keys.ownerOf(`Bearer ${token}`), expired);
    await rejects(keys.ownerOf(`Bearer ${token}`), expired);
  });

  test('tokens for another audience, of another issuer, of no organization and ID tokens are refused', async () => {
    for (const [claims, code] of [
      [{ aud: 'https://methods.example/mcp' }, 'unauthorized'],
      [{ iss: 'https://elsewhere.example' }, 'unauthorized'],
      [{ nonce: 'n' }, 'unauthorized'],
      [{ org_id: undefined }, 'forbidden'],
    ] as const) {
      equal(await codeOf(keys.ownerOf(`Bearer ${await tokenFor(claims)}`)), code, JSON.stringify(claims));
    }
    const forged = `${(await tokenFor()).slice(0, -8)}AAAAAAAA`;
    equal(await codeOf(keys.ownerOf(`Bearer ${forged}`)), 'unauthorized');
    equal(asked, 0);
  });

  test('without an issuer no token is accepted', async () => {
    const none = new WorkerKeys({ nowMs: () => 0, resolve: () => Promise.reject(new ServiceError('internal')) });
    equal(await codeOf(none.ownerOf(`Bearer ${await tokenFor()}`)), 'unauthorized');
  });
});
