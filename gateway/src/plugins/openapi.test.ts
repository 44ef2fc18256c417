// Compares replies to requests other than JSON with the API's description; `apiFixture` compares all the others.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { commonRegistryApi } from '../testing/api.fixture.ts';
import { DescribedReplies } from '../testing/described-replies.fixture.ts';
import { gatewayFixture } from '../testing/gateway.fixture.ts';

test('sign-in, sign-out, public routes and uploads reply as described', async () => {
  await using api = await commonRegistryApi();
  const url = `http://127.0.0.1:${api.port}`;
  const description = await DescribedReplies.of(url);
  const answers = async (expected: number, method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, { method, headers, redirect: 'manual' });
    const { status } = response;
    assert.equal(status, expected, `${method} ${path}`);
    const type = response.headers.get('content-type');
    description.check({ method, path, status, type, text: await response.text() });
    return response;
  };
  const page = { accept: 'text/html' };
  const own = { origin: 'http://127.0.0.1:8080' };

  await answers(200, 'GET', '/.well-known/methods');
  await answers(302, 'GET', '/auth/login');
  await answers(400, 'GET', '/auth/login?return_to=elsewhere');
  await answers(400, 'GET', '/auth/callback?code=x&state=y');
  await answers(400, 'GET', '/auth/callback?code=x&state=y', page);
  await answers(403, 'POST', '/auth/logout');
  await answers(403, 'POST', '/auth/logout', page);
  await answers(204, 'POST', '/auth/logout', own);
  await answers(303, 'POST', '/auth/logout', { ...own, ...page });

  const member = await api.person();
  const announced = { idempotency_key: randomUUID(), file_name: 'a.har', content_type: 'application/json', size: 5 };
  const { id, token } = (await member('POST', '/api/workflow-uploads', announced)).body.upload;
  const content = `/api/workflow-uploads/${id}/content`;
  const held = { authorization: `WorkflowUpload ${token}` };
  await answers(401, 'HEAD', content);
  await answers(200, 'HEAD', content, held);
  await answers(204, 'OPTIONS', content, held);
  await answers(412, 'PATCH', content, held);
});

test('the description has no error by the recommended rules of its linter', async () => {
  await using gateway = await gatewayFixture();
  const { body } = await gateway.ask('GET', '/openapi.json', undefined, { authorization: '' });
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(body), config });
  const errors = problems.filter(({ severity }) => severity === 'error');
  assert.deepEqual(
    errors.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
    [],
  );
});
