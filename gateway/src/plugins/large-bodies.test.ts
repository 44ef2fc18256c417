import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@methods/base/clock';
import type { KeyId, OrgId } from '@methods/base/ids';
import Fastify from 'fastify';
import { until } from '../testing/gateway.fixture.ts';
import { LongWork } from '../turns/long-work.ts';
import { addErrorReply } from './error-reply.ts';
import { addLargeBodies, LargeBodies } from './large-bodies.ts';

/** Parsing takes 10 ms; the test ends rests. */
function held() {
  let nowMs = 0;
  const rests: { ms: number; end: () => void }[] = [];
  const clock: Clock = {
    wallMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(ms, end) {
      rests.push({ ms, end });
      return { cancel() {} };
    },
  };
  const bodies = new LargeBodies(new LongWork(clock));
  const parsed: string[] = [];
  const parse = (orgId: OrgId) =>
    bodies.parse(orgId, 1 << 20, () => {
      nowMs += 10;
      parsed.push(orgId);
    });
  return { bodies, parsed, parse, rests };
}

test('large bodies are parsed one by one, and the event loop rests four times as long as reading and parsing took', async () => {
  const { parsed, parse, rests } = held();
  await parse('org_a');
  const second = parse('org_a');
  assert.deepEqual([parsed, rests.map(({ ms }) => ms)], [['org_a'], [60]]);
  rests[0]?.end();
  await second;
  assert.equal(parsed.length, 2);
});

test('a body of another organization is next, regardless of how many wait before it', async () => {
  const { parsed, parse, rests } = held();
  const all = [parse('org_a'), parse('org_a'), parse('org_a'), parse('org_b')];
  for (let turn = 0; turn < 3; turn++) rests[turn]?.end();
  await Promise.all(all);
  assert.deepEqual(parsed.slice(0, 3), ['org_a', 'org_a', 'org_b']);
});

test('an organization with too many waiting is refused, and another is not', async () => {
  const { parse } = held();
  const waiting = Array.from({ length: 70 }, () =>
    parse('org_a').then(
      () => null,
      (error) => error.code,
    ),
  );
  const refused = await Promise.race(waiting.slice(66));
  assert.equal(refused, 'rate_limited');
  void parse('org_b');
});

test('bytes of bodies have a share that is released', () => {
  const { bodies } = held();
  const first = bodies.bytes.take('org_a', '', 32 << 20);
  assert.ok(first.ok);
  assert.equal(bodies.bytes.take('org_a', '', 1).ok, false);
  assert.equal(bodies.bytes.take('org_b', '', 1 << 20).ok, true);
  first.leave();
  assert.equal(bodies.bytes.take('org_a', '', 1).ok, true);
});

test('one key has six large sources in progress and an organization eight; more are refused unread', async () => {
  const { bodies } = held();
  const app = Fastify();
  const waiting: (() => void)[] = [];
  let read = 0;
  app.decorateRequest('caller', null);
  addErrorReply(app, { warn() {}, error() {}, info() {} } as never);
  app.addHook('onRequest', async (request) => {
    const [orgId, keyId] = String(request.headers.authorization).split('/') as [OrgId, KeyId];
    request.caller = { kind: 'service_key', orgId, keyId };
  });
  addLargeBodies(app, bodies);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => {
    read++;
    done(null, body);
  });
  app.post('/source', { config: { source: true } }, async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return '';
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const ask = async (authorization: string, length = 100_000) => {
    const headers = { authorization, 'content-type': 'text/plain' };
    const response = await fetch(`${url}/source`, { method: 'POST', body: 'x'.repeat(length), headers });
    return `${response.status} ${/"share":"\w+"/.exec(await response.text())?.[0] ?? ''}`;
  };
  const under = (count: number) => until(() => waiting.length === count);
  const replies = Array.from({ length: 6 }, () => ask('a/1'));
  await under(6);
  assert.equal(await ask('a/1'), '429 "share":"key"');
  replies.push(ask('a/2'), ask('a/2'));
  await under(8);
  assert.equal(await ask('a/2'), '429 "share":"organization"');
  assert.equal(read, 8);
  replies.push(ask('a/1', 1_000), ask('b/1'));
  await under(10);
  for (const go of waiting) go();
  assert.deepEqual(new Set(await Promise.all(replies)), new Set(['200 ']));
  await until(() => bodies.sources.used === 0);
  await app.close();
});
