import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServiceKey, parseBearerKey } from '@methods/auth/service-key';
import { ContentKey } from '@methods/content/device/content-key';
import { until } from '@methods/test/harness/until';
import { Methods, type MethodsOptions } from './index.ts';

const { key, authPart } = createServiceKey();
const WHOAMI = { org_id: 'org_1', key_id: 'key_1', content_on_devices: true, content_grants: [] };
const RUN = { run_id: 'run_1', version_id: 'ver_1', status: 'queued', timing: {} };

function client(options: MethodsOptions, whoami: () => Response) {
  const sent: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  const answer = async (url: string | URL | Request, init: RequestInit = {}) => {
    const path = new URL(String(url)).pathname;
    sent.push({ path, body: JSON.parse(String(init.body ?? '{}')) as Record<string, unknown> });
    return path === '/v1/whoami' ? whoami() : Response.json(RUN);
  };
  const methods = new Methods({ apiKey: key, baseUrl: 'http://server.test', maxRetries: 0, fetch: answer, ...options });
  return { methods, sent };
}

test('where content is on devices, starts are sealed, after one look at the settings', async () => {
  const { methods, sent } = client({}, () => Response.json(WHOAMI));
  await Promise.all([methods.start({ method: 'wf_1', inputs: { name: 'Ada' } }), methods.start({ method: 'wf_1' })]);
  assert.deepEqual(
    sent.map(({ path }) => path),
    ['/v1/whoami', '/v1/runs', '/v1/runs'],
  );
  for (const { body } of sent.slice(1)) {
    assert.equal(body.run_data, 'device');
    assert.match(String(body.content_id), /^[0-9a-f]{32}$/);
    assert.deepEqual(Object.keys(Object(body.inputs)), ['$sealed']);
  }
  assert.notEqual(sent[1]?.body.content_id, sent[2]?.body.content_id);
});

test('without a content part nothing is sent where it would have to be sealed', async () => {
  const { methods, sent } = client({ apiKey: authPart }, () => Response.json(WHOAMI));
  const refused = { name: 'ConfigurationError', code: 'device_key_required' };
  await assert.rejects(methods.start({ method: 'wf_1', inputs: { name: 'Ada' } }), refused);
  await assert.rejects(methods.run({ method: 'wf_1', inputs: { name: 'Ada' } }), refused);
  const upload = methods.files.upload(Buffer.from('Ada'), { name: 'a' });
  await assert.rejects(upload, refused);
  assert.deepEqual(
    sent.map(({ path }) => path),
    ['/v1/whoami'],
  );
});

test('a server without device mode gets plain content, unless the client seals all; an outage is no answer', async () => {
  const old = () => Response.json({ error: 'not_found', message: 'No.' }, { status: 404 });
  const { methods, sent } = client({}, old);
  await methods.start({ method: 'wf_1', inputs: { name: 'Ada' } });
  assert.deepEqual([sent[1]?.body.run_data, sent[1]?.body.inputs], [undefined, { name: 'Ada' }]);

  const sealing = client({ runData: 'device' }, () => Response.json({ ...WHOAMI, content_on_devices: false }));
  await sealing.methods.start({ method: 'wf_1', inputs: { name: 'Ada' } });
  assert.equal(sealing.sent[1]?.body.run_data, 'device');

  let isDown = true;
  const down = client({}, () => (isDown ? new Response('', { status: 503 }) : Response.json(WHOAMI)));
  await assert.rejects(down.methods.start({ method: 'wf_1' }), { name: 'ServerError' });
  isDown = false;
  await down.methods.start({ method: 'wf_1' });
  assert.deepEqual(
    down.sent.map(({ path }) => path),
    ['/v1/whoami', '/v1/whoami', '/v1/runs'],
  );
});

test('a service that shows another run, or plain questions, gets no plain answer', async () => {
  const question = { id: 'q_1', step: 'ask', prompt: 'Which password?', form: {}, asked_at: null, deadline_at: null };
  let shown: object = {};
  const errors: unknown[] = [];
  let asks = 0;
  let contentId = '';
  const answer = async (url: string | URL | Request, init: RequestInit = {}) => {
    const path = new URL(String(url)).pathname;
    if (path === '/v1/whoami') return Response.json({ ...WHOAMI, content_on_devices: false });
    assert.ok(!String(init.body).includes('secret'), path);
    const { content_id } = JSON.parse(String(init.body ?? '{}')) as { content_id?: string };
    contentId = content_id ?? contentId;
    const kept = 'content_id' in shown ? {} : { content_id: contentId };
    return Response.json({ ...RUN, status: 'waiting', steps: [], run_data: 'device', question, ...kept, ...shown });
  };
  const onAsk = () => {
    asks++;
    return { secret: 'secret' };
  };
  const onError = (error: unknown) => void errors.push(error);
  const methods = new Methods({
    apiKey: key,
    baseUrl: 'http://server.test',
    fetch: answer,
    runData: 'device',
    onError,
  });
  const damaged = { name: 'SealedValueError', code: 'sealed_value_damaged' };
  for (const other of ['e'.repeat(32), undefined]) {
    shown = { content_id: other };
    await assert.rejects(methods.run({ method: 'wf_1', onAsk }), damaged);
  }
  await assert.rejects(methods.runs.answer('run_1', { secret: 'secret' }), { code: 'device_mode_required' });
  shown = {};
  await assert.rejects(methods.runs.answer('run_1', { secret: 'secret' }), damaged);
  const leaving = new AbortController();
  const running = methods.run({ method: 'wf_1', onAsk, signal: leaving.signal });
  await until('the plain question is reported', () => errors.length === 1);
  leaving.abort(new Error('enough'));
  await assert.rejects(running, { message: 'enough' });
  assert.deepEqual([asks, Object(errors[0]).code], [0, 'sealed_value_damaged']);
});

test('a question of another run, or one that was changed, reaches no handler', async () => {
  const content = new ContentKey(parseBearerKey(key)?.contentPart ?? '', WHOAMI.org_id);
  const { $sealed } = content
    .ofRun('e'.repeat(32))
    .sealJson({ kind: 'question', step: 'ask' }, { prompt: 'Which password?', form: {} });
  for (const text of [$sealed, `${$sealed.slice(0, -4)}AAAA`]) {
    const question = { id: 'q_1', step: 'ask', asked_at: null, deadline_at: null, sealed: { $sealed: text } };
    let contentId = 'f'.repeat(32);
    const answer = async (url: string | URL | Request, init: RequestInit = {}) => {
      if (String(url).endsWith('/v1/whoami')) return Response.json(WHOAMI);
      contentId = (JSON.parse(String(init.body ?? '{}')) as { content_id?: string }).content_id ?? contentId;
      return Response.json({ ...RUN, status: 'waiting', steps: [], content_id: contentId, question });
    };
    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const methods = new Methods({ apiKey: key, baseUrl: 'http://server.test', fetch: answer, onError });
    const leaving = new AbortController();
    const onAsk = () => assert.fail('it was asked');
    const running = methods.run({ method: 'wf_1', onAsk, signal: leaving.signal });
    await until('it is reported', () => errors.length === 1);
    leaving.abort(new Error('enough'));
    await assert.rejects(running, { message: 'enough' });
    assert.equal(Object(errors[0]).code, 'sealed_value_damaged');
    await assert.rejects(methods.runs.answer('run_1', {}), { name: 'SealedValueError', code: 'sealed_value_damaged' });
  }
});
