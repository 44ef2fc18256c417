import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOpaqueToken, opaqueTokenSha256 } from '@methods/auth/opaque-token';
import type { RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { TestIssuer } from '@methods/test/harness/test-issuer';
import { elapse } from '@methods/test/harness/until';
import { FollowedEvents } from '../testing/followed-events.fixture.ts';
import { type GatewayFixture, gatewayFixture, until } from '../testing/gateway.fixture.ts';
import { issuerConfig, MACHINE, MCP, PUBLIC_URL } from '../testing/issuer-config.fixture.ts';
import { McpAgent } from '../testing/mcp-agent.fixture.ts';

/** After a shorter wait the caller is not checked again. */
const CHECKED_MS = 1_000;

const urlOf = ({ port }: GatewayFixture) => `http://127.0.0.1:${port}`;

const withPeople = (issuer: TestIssuer) =>
  gatewayFixture({
    ...{ issuer: issuerConfig(issuer), publicUrl: PUBLIC_URL, mcpUrl: MCP },
    eventStreamLimits: { checkMs: 20 },
  });

function nodeOf({ nodes: [node] }: GatewayFixture) {
  assert.ok(node);
  return node;
}

async function runOf(gateway: GatewayFixture, methodId: string, token: string): Promise<RunId> {
  const body = { method: methodId, inputs: { name: 'Ada' } };
  return (await gateway.ask('POST', '/v1/runs', body, { authorization: `Bearer ${token}` })).body.run_id;
}

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

test('a key that is revoked during a wait gets no run', async () => {
  await using gateway = await gatewayFixture();
  const node = nodeOf(gateway);
  const { key } = gateway.apiKey;
  const [read, asked] = [await runOf(gateway, gateway.methodId, key), await runOf(gateway, gateway.methodId, key)];
  gateway.book.ask(asked);
  const waiting = [
    gateway.ask('GET', `/v1/runs/${read}?wait_ms=30000`),
    gateway.ask('POST', `/v1/runs/${asked}/answer?wait_ms=30000`, { answer: { ok: true } }),
    gateway.ask('POST', '/v1/runs?wait_ms=30000', { method: gateway.methodId, inputs: { name: 'Ada' } }),
  ];
  await until(() => node.watched.has(read) && node.count('answer') === 1 && node.count('start') === 3);
  await elapse(CHECKED_MS);
  gateway.registry.revoke(gateway.apiKey.sha256);
  gateway.registryClient.onEventsMissed();
  for (const { view } of gateway.book.runs.values()) node.push(gateway.book.succeed(view.runId, '{"text":"done"}'));
  for (const { status, body } of await Promise.all(waiting)) {
    assert.deepEqual([status, body], [401, { error: 'unauthorized' }]);
  }
});

test('a person whose access ends during a wait gets no run, one whose token expires still does', async () => {
  await using issuer = await TestIssuer.started();
  await using gateway = await withPeople(issuer);
  const node = nodeOf(gateway);
  const { methodId } = gateway.registry.method(gateway.registry.accounts.orgId('acme'), gateway.source);
  const token = (aud: string, more = {}) => issuer.token({ aud, org_id: 'acme', sub: 'ada', ...more });
  const lasting = await token(MACHINE);
  const started = () => runOf(gateway, methodId, lasting);
  const [read, called, expired] = [await started(), await started(), await started()];
  const waitFor = (runId: RunId, authorization: string) =>
    gateway.ask('GET', `/api/runs/${runId}?wait_ms=30000`, undefined, { authorization });
  const done = (runId: RunId) => node.push(gateway.book.succeed(runId, '{"text":"done"}'));

  // Clocks may differ by 5 s: it is accepted for two more.
  const exp = Math.ceil(Date.now() / 1_000) - 3;
  const authorization = `Bearer ${await token(MACHINE, { exp })}`;
  const short = waitFor(expired, authorization);
  await until(() => node.watched.has(expired));
  await until(async () => (await gateway.ask('GET', '/v1/whoami', undefined, { authorization })).status === 401);
  done(expired);
  assert.deepEqual((await short).body.result, { text: 'done' });

  const waiting = waitFor(read, `Bearer ${lasting}`);
  const agent = new McpAgent({ url: `${urlOf(gateway)}/mcp`, token: await token(MCP) });
  const calling = agent.call('get_run', { run_id: called, wait_ms: 30_000 });
  await until(() => node.watched.has(read) && node.watched.has(called));
  await elapse(CHECKED_MS);
  gateway.registry.accountService.answer({
    ensureUser: () => {
      throw new ServiceError('forbidden');
    },
  });
  gateway.accounts.onEventsMissed();
  done(read);
  done(called);
  const { status, body } = await waiting;
  assert.deepEqual([status, body.error, body.result], [403, 'forbidden', undefined]);
  assert.equal((await calling).data.error, 'forbidden');
});
