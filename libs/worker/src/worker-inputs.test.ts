import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { newId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { StepStatus } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { TestWorker } from './test-worker.fixture.ts';
import { type TestRun, WorkerNode } from './worker-node.fixture.ts';

const SOURCE = `format: method/2
name: reads-files
inputs: { a: file, unread?: file }
steps:
  - name: first
    in: [inputs.a]
    node: |
      const fs = await import('node:fs')
      fs.writeFileSync('copy.txt', fs.readFileSync(a.path))
      return { text: fs.readFileSync(a.path, 'utf8'), name: a.path.split('/').at(-1), copy: step.file('copy.txt'), same: a }
    out: { text: string, name: string, copy: file, same: file }
  - name: second
    in: [steps.first.same]
    shell: step out text "$(cat "$same")"
    out: { text: string }
result:
  text: =steps.first.text
  again: =steps.second.text
  name: =inputs.a.name
  type: =inputs.a.media_type
  on_disk: =steps.first.name
  file: =inputs.a
`;

const ASKING = `format: method/2
name: asks-between
inputs: { a: file }
steps:
  - name: first
    in: [inputs.a]
    shell: cat "$a"
    stdout: text
    out: { text: string }
  - name: decide
    ask: Go on?
    out: { yes: boolean }
  - name: second
    in: [inputs.a]
    shell: cat "$a"
    stdout: text
    out: { text: string }
result: { text: =steps.first.text, again: =steps.second.text }
`;

let node: WorkerNode;
beforeEach(async () => {
  node = await WorkerNode.start();
});
afterEach(() => node.stop());

function reference(content: string, more = {}) {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { file_id: newId('file'), name: 'a.txt', bytes: content.length, sha256, media_type: 'text/plain', ...more };
}

async function ended(inputs: object): Promise<TestRun> {
  const run = node.grant({ versionId: node.publish(SOURCE), inputsJson: JSON.stringify(inputs) });
  await until('the run has ended', () => run.ended);
  return run;
}

function finish({ recorded }: TestRun) {
  const end = recorded.at(-1);
  assert.ok(end?.case === 'finish');
  return end.value;
}

describe('the files that inputs reference', () => {
  it('are fetched once, when a step needs them, and stay out of the saved folder', async () => {
    await using started = await TestWorker.start(node);
    const file = reference('content');
    node.files.set(file.file_id, [Buffer.from('con'), Buffer.from('tent')]);
    const run = await ended({ a: { ...file, path: '/etc/passwd' }, unread: reference('never asked for') });
    assert.equal(finish(run).error?.message, undefined);
    const result = JSON.parse(finish(run).resultJson);
    const { path, ...told } = result.file;
    assert.deepEqual(told, file);
    assert.equal(path, `inputs/${file.file_id}/a.txt`, 'the path of the row is not looked at');
    assert.deepEqual(
      [result.text, result.again, result.name, result.type, result.on_disk],
      ['content', 'content', 'a.txt', 'text/plain', 'a.txt'],
    );
    assert.equal(node.story.filter((word) => word === 'file fetched').length, 1);
    const [archive] = node.folders.values();
    assert.ok((archive?.length ?? 0) < 400, 'only the copy of the step is in it');
    await until('the files are gone', () => filesOf(started).length === 0);
  });

  it('are fetched again by another worker that continues the run', async () => {
    const versionId = node.publish(ASKING);
    const file = reference('content');
    node.files.set(file.file_id, [Buffer.from('content')]);
    const inputsJson = JSON.stringify({ a: file });
    let run: TestRun;
    {
      await using first = await TestWorker.start(node);
      run = node.grant({ versionId, inputsJson });
      await until('the run asks', () => run.ended);
      await until('the files are gone', () => filesOf(first).length === 0);
    }
    const [record] = run.recorded;
    assert.ok(record?.case === 'stepRecord');
    const finishedSteps = [{ path: 'first', status: StepStatus.SUCCEEDED, outJson: record.value.outJson }];
    const answer = { questionId: 'q_1' as const, step: 'decide', answerJson: '{"yes":true}' };
    await using _second = await TestWorker.start(node);
    const next = node.grant({ versionId, inputsJson, runId: run.runId, finishedSteps, answer });
    await until('the run has ended', () => next.ended);
    assert.deepEqual(JSON.parse(finish(next).resultJson), { text: 'content', again: 'content' });
    assert.equal(node.story.filter((word) => word === 'file fetched').length, 2);
  });

  it('fail the run when their content differs or is missing', async () => {
    await using started = await TestWorker.start(node);
    const damaged = reference('content');
    node.files.set(damaged.file_id, [Buffer.from('contend')]);
    const long = reference('content');
    node.files.set(long.file_id, [Buffer.from('content'), Buffer.from('and more')]);
    for (const [file, message] of [
      [damaged, /arrived damaged/],
      [long, /arrived damaged/],
      [reference('gone'), /no longer exists/],
    ] as const) {
      const { error } = finish(await ended({ a: file }));
      assert.equal(error?.kind, 'input');
      assert.match(error?.message ?? '', message);
      await until('nothing is left', () => inputFoldersOf(started).length === 0);
    }
  });

  it('fail the run before its first step when the row holds a reference that no server wrote', async () => {
    await using _started = await TestWorker.start(node);
    for (const more of [
      { file_id: 'file_../../../../etc' },
      { name: '../../passwd' },
      { name: 'a/b' },
      { name: '' },
      { name: 'a\nb' },
      { bytes: -1.5 },
      { sha256: 'x' },
    ]) {
      const { error } = finish(await ended({ a: reference('content', more) }));
      assert.deepEqual(
        [error?.kind, error?.message],
        ['input', 'The input a is not a file of the run'],
        JSON.stringify(more),
      );
    }
    assert.ok(!node.story.includes('file fetched'));
    assert.ok(!node.story.some((word) => word.includes('begins')));
  });

  it('wait for an unavailable server', async () => {
    await using started = await TestWorker.start(node);
    let calls = 0;
    node.beforeCall = (name) => {
      if (name === 'getInputFile' && ++calls < 3) throw new ServiceError('unavailable');
    };
    const file = reference('content');
    node.files.set(file.file_id, [Buffer.from('content')]);
    const ending = ended({ a: file });
    for (const call of [1, 2]) {
      await until('it is asked for', () => calls === call);
      await until('it is asked for again', () => {
        started.clock.forward(100);
        return calls > call;
      });
    }
    assert.equal(JSON.parse(finish(await ending).resultJson).text, 'content');
    assert.equal(calls, 3);
  });
});

function filesOf({ dataDir }: { readonly dataDir: string }): string[] {
  return readdirSync(dataDir, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('a.txt'));
}

function inputFoldersOf({ dataDir }: { readonly dataDir: string }): string[] {
  return readdirSync(dataDir, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.inputs'));
}
