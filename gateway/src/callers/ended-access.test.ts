import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import { TestIssuer } from '@methods/test/harness/test-issuer';
import { FollowedEvents } from '../testing/followed-events.fixture.ts';
import { type GatewayFixture, gatewayFixture, until } from '../testing/gateway.fixture.ts';
import { issuerConfig, MACHINE, MCP, PUBLIC_URL } from '../testing/issuer-config.fixture.ts';

const urlOf = ({ port }: GatewayFixture) => `http://127.0.0.1:${port}`;

const withPeople = (issuer: TestIssuer) =>
  gatewayFixture({
    ...{ issuer: issuerConfig(issuer), publicUrl: PUBLIC_URL, mcpUrl: MCP },
    eventStreamLimits: { checkMs: 20 },
  });

test("a browser's stream ends with its session, even if it is signed in to another organization", async () => {
  await using issuer = await TestIssuer.started();
  await using gateway = await withPeople(issuer);
  const { accounts } = gateway.registry;
  const sessions = ['acme', 'other'].map(async (org_id) => {
    const token = await issuer.token({ aud: MACHINE, org_id, sub: 'ada' });
    const { body } = await gateway.ask('GET', '/v1/whoami', undefined, { authorization: `Bearer ${token}` });
    const person = accounts.people.find(({ orgId }) => orgId === body.org_id) ?? assert.fail();
    const session = newOpaqueToken();
    accounts.sessions.set(opaqueTokenSha256(session).toString('hex'), { person, expiresAtMs: Date.now() + 60_000 });
    return session;
  });
  const [first = '', second = ''] = await Promise.all(sessions);
  const follow = (tokens: string[]) =>
    FollowedEvents.of(`${urlOf(gateway)}/api/events`, { cookie: `workflow_session=${tokens.join('.')}` });
  const [ending, staying] = [await follow([first, second]), await follow([second, first])];
  accounts.sessions.delete(opaqueTokenSha256(first).toString('hex'));
  gateway.accounts.onEventsMissed();
  await until(() => ending.over);
  assert.deepEqual(ending.events.at(-1)?.data, { reason: 'unauthorized' });
  assert.equal(staying.over, false);
  staying.leave();
});
