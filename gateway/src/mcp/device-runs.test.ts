import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelope, sealed } from '@methods/content/sealed.fixture';
import { TestIssuer } from '@methods/test/harness/test-issuer';
import { gatewayFixture } from '../testing/gateway.fixture.ts';
import { issuerConfig, MCP, PUBLIC_URL } from '../testing/issuer-config.fixture.ts';
import { McpAgent } from '../testing/mcp-agent.fixture.ts';

test('an agent starts no runs where content is on devices, and learns of sealed ones only that they wait or ended', async () => {
  await using issuer = await TestIssuer.started();
  await using gateway = await gatewayFixture({ issuer: issuerConfig(issuer), publicUrl: PUBLIC_URL, mcpUrl: MCP });
  gateway.registry.accounts.settings.contentOnDevices = true;
  const orgId = gateway.registry.accounts.orgId('acme');
  const { methodId } = gateway.registry.method(orgId, gateway.source);
  const token = await issuer.token({ aud: MCP, org_id: 'acme', sub: 'ada', role: 'member' });
  const agent = new McpAgent({ url: `http://127.0.0.1:${gateway.port}/mcp`, token });
  const refused = await agent.call('start_run', { method_id: methodId, inputs: { name: 'Ada' } });
  assert.equal(refused.data.error, 'device_mode_required');

  const device = { run_data: 'device', content_id: '0'.repeat(32), inputs: sealed({ kind: 'inputs' }) };
  const key = { authorization: `Bearer ${gateway.registry.key(orgId).key}` };
  const started = await gateway.ask('POST', '/v1/runs', { method: methodId, ...device }, key);
  const runId = started.body.run_id;
  const { question } = gateway.book.ask(runId);
  assert.ok(question);
  Object.assign(question, { prompt: '', show: [], formJson: '', sealed: envelope({ kind: 'question' }) });
  const waiting = await agent.done('get_run', { run_id: runId });
  assert.deepEqual(Object.keys(waiting.data.question), ['id', 'step', 'sealed', 'asked_at', 'deadline_at']);

  question.sealed = envelope({ kind: 'question', plainBytes: 256 * 1024 });
  const large = await agent.done('get_run', { run_id: runId });
  assert.equal(large.data.question_left_out, `GET /api/runs/${runId}`);
  gateway.book.succeed(runId, '');
  const ended = await agent.done('get_run', { run_id: runId });
  assert.deepEqual([ended.data.status, ended.data.result_at, ended.data.result], ['succeeded', 'worker', undefined]);
});
