// The language's guarantees on secrets, servers, times and texts, in `methods run` and in `methods test`.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';

/** Longer than a line of base64. */
const TOKEN = `tok_${'abcdefghi&'.repeat(8)}_end`;
const TIMES = { one: '2026-01-01T00:30:00+02:00', other: '2025-12-31T23:00:00Z' };
const METHOD = `format: method/2
name: promises
inputs: { url: url, one: datetime, other: datetime }
secrets: [TOKEN]
steps:
  - name: order
    http: { get: "\${inputs.url}", auth: { bearer: TOKEN } }
    on_error: continue
  - name: cut
    node: "return { text: '\\\\ud83d' }"
    out: { text: string }
    on_error: continue
  - name: later
    check: [It is earlier: inputs.one < inputs.other]
  - name: loud
    secrets: [TOKEN]
    node: |
      const wrapped = Buffer.from(process.env.TOKEN).toString('base64').replace(/.{76}/g, '$&\\n')
      console.log(wrapped)
      throw new Error(wrapped)
tests:
  - name: all of it
    inputs: ${JSON.stringify({ url: 'http://127.0.0.1:9', ...TIMES })}
    secrets: { TOKEN: "${TOKEN}" }
    mock: { order: { $error: { kind: http, status: 503, reason: Not Today, body: closed } } }
    expect: { status: succeeded }
`;
/** Any line of it. */
const PARTS = /tok_|dG9rX|X2VuZ|YWJjZGVm/;

const server = createServer((request, response) => {
  response.writeHead(503, 'Not Today', { 'x-request-id': 'r1' }).end(`closed for ${request.headers.authorization}`);
});
let folder: CliFolder;
before(async () => {
  folder = await CliFolder.make({ 'promises.method': METHOD });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  server.close();
  await folder.remove();
});

interface RunDocument {
  readonly error: { readonly step: string; readonly message: string };
  readonly inspection: {
    readonly actions: readonly { readonly path: string; readonly error: Readonly<Record<string, unknown>> | null }[];
  };
}

test('a run shows a secret in no form, shows the server’s message, and treats times and halves of characters as a server does', async () => {
  const { port } = server.address() as AddressInfo;
  const inputs = JSON.stringify({ url: `http://127.0.0.1:${port}`, ...TIMES });
  const { document, stdout, stderr } = await folder.json<RunDocument>(['run', 'promises.method', '--inputs', inputs], {
    TOKEN,
  });
  equal(document.error.step, 'loud');
  match(document.error.message, /^\*\*\*TOKEN\*\*\*=*$/);
  const errorOf = (name: string) => document.inspection.actions.find(({ path }) => path === name)?.error ?? {};
  const { status, reason, headers, body } = errorOf('order');
  deepEqual([status, reason, body], [503, 'Not Today', 'closed for Bearer ***TOKEN***']);
  equal((headers as Record<string, string>)['x-request-id'], 'r1');
  match(String(errorOf('cut').message), /half of a character at \/text/);
  doesNotMatch(stdout + stderr, PARTS);
});

test('a test does the same', async () => {
  const { code, stdout, stderr } = await folder.methods(['test', 'promises.method']);
  equal(code, 1);
  match(stdout + stderr, /loud/);
  match(stdout + stderr, /\*\*\*TOKEN\*\*\*/);
  doesNotMatch(stdout + stderr, PARTS);
});
