// Requests that two programs could read in two ways, and bytes that are none: refused, and the connection closed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rawRequest } from '../raw-request.ts';
import type { Stack } from '../stack.ts';
import { leavesRunsUnchanged } from '../unchanged-runs.ts';

export function framing(stack: () => Stack): void {
  describe('a request is refused with 400 for', () => {
    const head = (line: string, ...more: string[]) => [
      line,
      'Host: methods.example',
      `Authorization: Bearer ${stack().ready.api_key}`,
      ...more,
    ];
    const body = () => JSON.stringify({ method: stack().method('greet') });
    const json = () => ['Content-Type: application/json', `Content-Length: ${body().length}`];
    const start = (...more: string[]) => head('POST /v1/runs HTTP/1.1', ...json(), ...more);

    const cases: readonly { name: string; lines: () => string[]; body?: () => string; message: string }[] = [
      {
        name: 'two Authorization headers',
        lines: () => start(`Authorization: Bearer ${stack().ready.api_key}`),
        body,
        message: 'The request has more than one Authorization header.',
      },
      {
        name: 'two Host headers',
        lines: () => start('Host: other.example'),
        body,
        message: 'The request has more than one Host header.',
      },
      {
        name: 'no Host header',
        lines: () => start().filter((line) => !line.startsWith('Host')),
        body,
        message: 'The request has no Host header.',
      },
      {
        name: 'a target that is a whole URL',
        lines: () => start().map((line) => line.replace('/v1/runs', 'http://methods.example/v1/runs')),
        body,
        message: 'The request target has to be a path.',
      },
      {
        name: 'a GET with a body',
        lines: () => head('GET /v1/runs/run_0101m7y804g33sn568qvqft2vt HTTP/1.1', 'Content-Length: 2'),
        body: () => '{}',
        message: 'A GET request has no body.',
      },
      {
        name: 'a GET with a chunked body',
        lines: () => head('GET /v1/runs/run_0101m7y804g33sn568qvqft2vt HTTP/1.1', 'Transfer-Encoding: chunked'),
        body: () => '2\r\n{}\r\n0\r\n\r\n',
        message: 'A GET request has no body.',
      },
      {
        name: 'a length and chunks at once',
        lines: () => start('Transfer-Encoding: chunked'),
        body: () => `${body().length.toString(16)}\r\n${body()}\r\n0\r\n\r\n`,
        message: 'The request is not valid HTTP.',
      },
      {
        name: 'two lengths',
        lines: () => start(`Content-Length: ${body().length + 1}`),
        body,
        message: 'The request is not valid HTTP.',
      },
      {
        name: 'a line break in a header',
        lines: () => start('X-Note: a\nb: c'),
        body,
        message: 'The request is not valid HTTP.',
      },
      { name: 'another protocol', lines: () => ['EHLO methods.example'], message: 'The request is not valid HTTP.' },
    ];

    for (const { name, lines, body: sent, message } of cases) {
      test(name, async () => {
        const reply = await leavesRunsUnchanged(stack(), () => rawRequest(stack().ready.base_url, lines(), sent?.()));
        assert.equal(reply.status, 400);
        const refusal = JSON.parse(reply.body);
        assert.deepEqual([refusal.error, refusal.message], ['invalid_request', message]);
        assert.equal(reply.headers.get('x-request-id'), refusal.request_id);
        assert.equal(reply.headers.get('connection'), 'close');
      });
    }

    test('nothing: the same request in good form starts a run', async () => {
      const reply = await rawRequest(stack().ready.base_url, start('Connection: close'), body());
      assert.equal(reply.status, 201);
      await stack().api.settled(JSON.parse(reply.body).run_id);
    });
  });
}
