// Methods that call servers, and what becomes of a run when a server answers badly.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PeerServer } from '../http-peers.ts';
import type { Stack } from '../stack.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

export function httpSteps(stack: () => Stack): void {
  describe('an http step', () => {
    const server = new PeerServer((request, response) => {
      switch (request.url) {
        case '/good':
          response.writeHead(200, JSON_TYPE).end('{"id":"ord_1","count":3,"more":[1]}');
          break;
        case '/unavailable':
          response.writeHead(503, JSON_TYPE).end('{"error":"later"}');
          break;
        case '/bad-json':
          response.writeHead(200, JSON_TYPE).end('{"id":');
          break;
        case '/page':
          response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>');
          break;
        case '/other-shape':
          response.writeHead(200, JSON_TYPE).end('{"id":"ord_1","count":"three"}');
          break;
        default:
          response.socket?.destroy();
      }
    });
    before(() => server.start());
    after(() => server.stop());
    const call = (url: string) => stack().api.startSettled({ method: stack().method('call-server'), inputs: { url } });

    test('gives what the server answered, declared fields only', async () => {
      const run = await call(`${server.url}/good`);
      assert.deepEqual([run.status, run.result], ['succeeded', { id: 'ord_1', count: 3 }]);
    });

    const failures = [
      { path: '/unavailable', kind: 'http', status: 503, message: /^The server answered 503$/ },
      { path: '/bad-json', kind: 'out', message: /^The answer is called JSON but is not$/ },
      { path: '/page', kind: 'out', status: 200, message: /^The answer is not JSON; use take$/ },
      { path: '/other-shape', kind: 'out', message: /^out does not match: \/count / },
      { path: '/hang-up', kind: 'network', message: /./ },
    ];
    for (const { path, kind, status, message } of failures) {
      test(`fails its run when the server answers as ${path.slice(1)} does`, async () => {
        const run = await call(server.url + path);
        assert.equal(run.status, 'failed');
        assert.deepEqual([run.error?.code, run.error?.kind, run.error?.step], ['step_failed', kind, 'call']);
        assert.match(run.error?.message ?? '', message);
        const [step] = run.steps;
        assert.deepEqual([step?.status, step?.error?.kind, step?.error?.status], ['failed', kind, status]);
        assert.equal(run.attempts, 1, 'a failed step is no lost attempt');
        assert.equal(run.result, undefined);
      });
    }

    test('fails its run when there is no listener', async () => {
      const gone = new PeerServer(() => {});
      await gone.start();
      const { url } = gone;
      await gone.stop();
      const run = await call(url);
      assert.deepEqual([run.error?.code, run.error?.kind], ['step_failed', 'network']);
    });
  });
}
