import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';

const FILE = `format: method/2
name: hello
steps:
  - name: greet
    node: |
      return { word: 'hello' };
    out: { word: string }
result:
  word: =steps.greet.word
`;

test('a save whose reply a proxy lost is repeated without fear, and the hint says so', async (t) => {
  const proxy = createServer((request, reply) => {
    request.resume();
    if (request.method === 'GET') reply.end('{"machine_audience":"methods"}');
    else reply.writeHead(502).end('<html>Bad gateway</html>');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const folder = await CliFolder.make({ 'a.method': FILE });
  t.after(async () => {
    proxy.close();
    await folder.remove();
  });
  const env = { METHODS_SERVER: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  const { stderr } = await folder.quick(['save', 'a.method'], env);
  assert.match(
    stderr,
    /^error: the server answered 502\nhint: .*; then {2}methods save a\.method {2}again: nothing is saved twice$/m,
  );
});
