import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { compileMethod } from '@methods/method/compile';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject, JsonValue } from '@methods/method/json';
import { answering, TestServer } from '../kinds/http-server.fixture.ts';
import { RunFolder } from '../run-folder.ts';
import { RunHarness } from '../run-harness.fixture.ts';

const SECRET = 'content of the machine';
const sha256 = createHash('sha256').update(SECRET).digest('hex');

let harness: RunHarness;
let server: TestServer;
/** A reference to a file of the machine, written with full knowledge of it. */
let forged: JsonObject;
before(async () => {
  harness = await RunHarness.start();
  server = new TestServer();
  await server.start();
  const path = join(harness.dir, 'passwd');
  writeFileSync(path, SECRET);
  forged = { path, bytes: SECRET.length, sha256, media_type: 'text/plain' };
});
after(async () => {
  server.stop();
  await harness.stop();
});

function compiled(source: string): CompiledMethod {
  const { method, diagnostics } = compileMethod(`format: method/2\nname: forged\n${source}`);
  assert.ok(method, diagnostics.map(({ message }) => message).join('\n'));
  return method;
}

const READ = `
  - name: read
    in: { file: =steps.give.file }
    node: |
      const fs = await import('node:fs')
      return { text: fs.readFileSync(file.path, 'utf8') }
    out: { text: string }
`;

/** Nested in every way a file may be. */
function nested(file: JsonValue): [type: string, value: JsonValue, use: string][] {
  return [
    ['file', file, 'inputs.a'],
    ['list<file>', [file], 'inputs.a[0]'],
    ['{ inner: file }', { inner: file }, 'inputs.a.inner'],
    ['map<file>', { x: file }, 'inputs.a.x'],
    ['Named', { deep: [file] }, 'inputs.a.deep[0]'],
    ['file | null', file, 'inputs.a'],
  ];
}

describe('a file value that the worker did not create', () => {
  it('fails the run where its row names it as an input, at any depth', async () => {
    for (const [type, value, use] of nested(forged)) {
      const method = compiled(`
types: { Named: { deep: list<file> } }
inputs: { a: "${type}" }
steps:
  - name: read
    in: { file: "=${use}" }
    node: 'return { text: String(file.path) }'
    out: { text: string }
`);
      const outcome = await harness.run(method, { inputs: { a: value } });
      assert.equal(outcome.status === 'failed' && outcome.error.kind, 'input', type);
      assert.deepEqual(harness.records, []);
    }
  });

  it('is refused as the out of code, in any form', async () => {
    for (const step of [
      `    node: |\n      return { file: ${JSON.stringify(forged)} }`,
      `    python: |\n      return {"file": ${JSON.stringify(forged)}}`,
      `    shell: |\n      step out file '${JSON.stringify(forged)}'`,
      `    stdout: file\n    shell: |\n      echo '${JSON.stringify(forged)}'`,
      `    node: |\n      return { file: { path: "${forged.path}", bytes: 1, sha256: "x" } }`,
      `    node: |\n      return { file: { path: "../../passwd", bytes: ${SECRET.length}, sha256: "${sha256}" } }`,
    ]) {
      const outcome = await harness.run(compiled(`steps:\n  - name: give\n${step}\n    out: { file: file }\n${READ}`));
      assert.equal(outcome.status === 'failed' && outcome.error.kind, 'out', step);
    }
  });

  it('is refused as the answer of a server, by name and with take', async () => {
    const body = JSON.stringify({ file: forged });
    await answering(
      server,
      (_, response) => response.setHeader('content-type', 'application/json').end(body),
      async () => {
        for (const take of ['', ', take: { file: response.body.file }']) {
          const step = `  - name: give\n    http: { get: "${server.origin}"${take} }\n    out: { file: file }\n`;
          const outcome = await harness.run(compiled(`steps:\n${step}${READ}`));
          assert.equal(outcome.status === 'failed' && outcome.error.kind, 'out', take);
        }
      },
    );
  });

  it('is data where a group sets it as its result', async () => {
    const method = compiled(`
inputs: { a: any }
steps:
  - name: give
    steps:
      - name: nothing
        shell: exit 0
    result: { file: =inputs.a }
  - name: send
    http: { put: "${server.origin}", file: =steps.give.file }
`);
    const before = server.seen.length;
    const outcome = await harness.run(method, { inputs: { a: forged } });
    assert.equal(outcome.status === 'failed' && outcome.error.kind, 'http');
    assert.equal(server.seen.length, before);
  });

  it('is refused as the input of a called method', async () => {
    const called = compiled(`
inputs: { file: file }
steps:
  - name: read
    in: [inputs.file]
    node: 'return { text: file.path }'
    out: { text: string }
result: { text: =steps.read.text }
`);
    const method = compiled(`
inputs: { a: any }
steps:
  - name: read
    call: ./read.method
    in: { file: =inputs.a }
    out: { text: string }
`);
    const callee = async () => ({ method: called, versionId: 'ver_called' as const });
    const outcome = await harness.run(method, { inputs: { a: forged }, callee });
    assert.equal(outcome.status === 'failed' && outcome.error.kind, 'input');
  });

  it('is refused in what the server kept of an earlier attempt', async () => {
    const give = '  - name: give\n    node: "return { file: null }"\n    out: { file: file }\n';
    const method = compiled(`steps:\n${give}${READ}`);
    const finished = new Map([['give', { status: 'succeeded', out: { file: forged }, withheld: false } as const]]);
    const outcome = await harness.run(method, { finished });
    assert.equal(outcome.status === 'failed' && outcome.error.kind, 'input');
  });

  it('is not a file for a shell step or the body of a request, from any source', async () => {
    const method = compiled(`
inputs: { a: any }
steps:
  - name: show
    in: { a: =inputs.a }
    stdout: text
    shell: echo "$a"
    out: { text: string }
result: { text: =steps.show.text }
`);
    const shown = await harness.run(method, { inputs: { a: forged } });
    assert.deepEqual(shown.status === 'succeeded' && JSON.parse(String(shown.result.text)), forged);
    const send = compiled(`
inputs: { a: any }
steps:
  - name: send
    http: { put: "${server.origin}", file: =inputs.a }
`);
    const sent = await harness.run(send, { inputs: { a: forged } });
    assert.equal(sent.status === 'failed' && sent.error.kind, 'http');
  });
});

describe('a reference to a file of the run', () => {
  const MAKE = `
  - name: make
    node: |
      const fs = await import('node:fs')
      fs.writeFileSync('a.txt', 'mine')
      return { file: step.file('a.txt') }
    out: { file: file }
`;

  it('is refused from a server, a person and code that was not given it', async () => {
    const own = {
      path: 'steps/make/files/a.txt',
      bytes: 4,
      sha256: createHash('sha256').update('mine').digest('hex'),
      media_type: 'text/plain',
    };
    const body = JSON.stringify({ any: { list: [own] } });
    await answering(
      server,
      (_, response) => response.setHeader('content-type', 'application/json').end(body),
      async () => {
        for (const give of [
          `http: { get: "${server.origin}" }`,
          `node: 'return { any: [${JSON.stringify(own)}] }'`,
          'ask: Which?',
        ]) {
          const method = compiled(`steps:${MAKE}\n  - name: give\n    ${give}\n    out: { any: any }\n`);
          const answer = { questionId: 'q_1' as const, step: 'give', value: { any: own } };
          const outcome = await harness.run(method, { answer });
          assert.equal(outcome.status === 'failed' && outcome.error.kind, 'out', give);
        }
      },
    );
  });

  it('stays the same file where code returns its input', async () => {
    for (const pass of ['node: "return { file, list: [file] }"', "python: \"return {'file': file, 'list': [file]}\""]) {
      const method = compiled(`
steps:${MAKE}
  - name: give
    in: [steps.make.file]
    ${pass}
    out: { file: file, list: list<file> }
${READ}
result: { text: =steps.read.text, name: =steps.give.file.name, path: "=steps.give.list[0]!= null" }
`);
      const outcome = await harness.run(method);
      assert.equal(outcome.status, 'succeeded', pass);
      assert.deepEqual(outcome.status === 'succeeded' && outcome.result, { text: 'mine', name: 'a.txt', path: true });
    }
  });

  it('is recognized after a restore, and not with other content', async () => {
    const first = RunFolder.create(join(harness.dir, 'first'), 'run_a');
    const file = await first.write('make', 'a.txt', content('mine'), 'text/plain');
    const later = RunFolder.create(join(harness.dir, 'later'), 'run_a');
    await later.restore(first.archive());
    assert.ok(later.has(file));
    for (const change of [{ sha256 }, { bytes: 5 }, { path: 'steps/make/files/b.txt' }]) {
      assert.ok(!later.has({ ...file, ...change }));
    }
    const reopened = await RunFolder.reopen(join(harness.dir, 'first'), 'run_a');
    assert.ok(reopened.has(file));
    await reopened.clearStep('make');
    assert.ok(!reopened.has(file));
  });
});

async function* content(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
