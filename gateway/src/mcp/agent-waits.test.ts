import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestIssuer } from '@methods/test/harness/test-issuer';
import { gatewayFixture } from '../testing/gateway.fixture.ts';
import { issuerConfig, MCP, PUBLIC_URL } from '../testing/issuer-config.fixture.ts';
import { McpAgent } from '../testing/mcp-agent.fixture.ts';

const WAITS_OF_AN_ORGANIZATION = 5_000;

test('a wait of an agent takes a place among the waits of its organization', async () => {
  await using issuer = await TestIssuer.started();
  await using gateway = await gatewayFixture({ issuer: issuerConfig(issuer), publicUrl: PUBLIC_URL, mcpUrl: MCP });
  const orgId = gateway.registry.accounts.orgId('waits');
  const { methodId } = gateway.registry.method(orgId, gateway.source);
  const token = await issuer.token({ aud: MCP, org_id: 'waits', sub: 'ada', role: 'member' });
  const agent = new McpAgent({ url: `http://127.0.0.1:${gateway.port}/mcp`, token });
  const { run_id: runId } = (await agent.done('start_run', { method_id: methodId, inputs: { name: 'Ada' } })).data;

  const others = { id: 'others', gone: false, onGone: () => () => {} };
  const waits = Array.from({ length: WAITS_OF_AN_ORGANIZATION }, () =>
    gateway.scheduler.waitForRun(
      { orgId, runId, requestId: 'others' },
      { waitMs: 60_000, afterQuestion: null },
      others,
    ),
  );
  const refused = await agent.call('get_run', { run_id: runId, wait_ms: 1_000 });
  assert.deepEqual([refused.data.error, refused.data.share], ['rate_limited', 'organization']);
  assert.equal((await agent.done('get_run', { run_id: runId, wait_ms: 0 })).data.run_id, runId);
  gateway.nodes[0]?.push(gateway.book.succeed(runId, '{}'));
  await Promise.all(waits);
  await agent.done('get_run', { run_id: runId, wait_ms: 1_000 });
});
