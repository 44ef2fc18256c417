import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiFixture, commonRegistryApi } from '../testing/api.fixture.ts';
import { MCP } from '../testing/issuer-config.fixture.ts';
import { McpAgent } from '../testing/mcp-agent.fixture.ts';

let api: ApiFixture;
before(async () => {
  api = await commonRegistryApi();
});
after(() => api[Symbol.asyncDispose]());

test('an agent learns the language by topic, and the example method it finds is valid', async () => {
  const token = await api.issuer.token({ aud: MCP, org_id: 'learner', sub: 'learner', role: 'viewer' });
  const agent = new McpAgent({ url: `http://127.0.0.1:${api.port}/mcp`, token, era: '2026-07-28' });
  const first = await agent.done('get_method_language');
  assert.equal(first.data.topic, 'overview');
  assert.ok(first.text.includes('- loops: each and repeat'));
  const { data } = await agent.done('get_method_language', { topic: 'example/pay-invoices' });
  const [, source = ''] = /```yaml\n([\s\S]*?)```/.exec(data.text) ?? [];
  assert.deepEqual((await agent.done('validate_method', { source })).data, { ok: true, diagnostics: [] });
  assert.match((await agent.done('get_method_language', { topic: 'M403' })).data.text, /^# M403/);
  for (const topic of ['nothing', '../language']) {
    const refused = await agent.call('get_method_language', { topic });
    assert.equal(refused.isError, true);
    assert.match(refused.text, /not_found.*The topics are overview,/);
  }
});
