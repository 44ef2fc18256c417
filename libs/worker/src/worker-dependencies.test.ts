import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { PATH, PackageIndex } from '@methods/executor/dependencies/package-index.fixture';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { until } from '@methods/test/harness/until';
import { TestWorker } from './test-worker.fixture.ts';
import { type TestRun, WorkerNode } from './worker-node.fixture.ts';

const SAYS = [{ name: 'says', version: '1.0.0' }];
const INSTALL_MS_MAX = 300_000;

let node: WorkerNode;
let index: PackageIndex;
before(async () => {
  node = await WorkerNode.start();
  index = await PackageIndex.start();
  const code = { 'index.js': "import { word } from 'word'; export const say = () => word" };
  await index.addNpm('says', '1.0.0', code, { dependencies: { word: '^1.0.0' } });
  await index.addNpm('word', '1.0.0', { 'index.js': "export const word = 'first'" });
});
beforeEach(() => {
  node.story.length = 0;
  node.beforeCall = () => {};
});
after(async () => {
  await node.stop();
  await index.stop();
});

function startWorker(): Promise<TestWorker> {
  return TestWorker.start(node, { path: PATH, secrets: index.host });
}

/** A method whose step uses the package. Each `title` makes a new version. */
function saying(title: string, dependencies = 'npm: [says@1.0.0]'): string {
  return `format: method/2
name: saying
title: ${title}
dependencies: { ${dependencies} }
steps:
  - name: say
    node: |
      import { say } from 'says'
      return { word: say() }
    out: { word: string }
result: { word: =steps.say.word }
`;
}

/** The run's result, or its error as `code kind message`. */
async function endOf(run: TestRun): Promise<string> {
  await until('the run has ended', () => run.ended, INSTALL_MS_MAX);
  const last = run.recorded.at(-1);
  if (last?.case !== 'finish') return last?.case ?? 'nothing';
  const { status, resultJson, error } = last.value;
  if (status === RunStatus.SUCCEEDED) return resultJson;
  return `${error?.code} ${error?.kind} ${error?.message}`;
}

function tarballsAsked(): number {
  return index.requests.filter((url) => url.endsWith('says-1.0.0.tgz')).length;
}

describe('a worker prepares dependencies', () => {
  it('once for runs that begin together, and sends their lock to the server', async () => {
    await using _ = await startWorker();
    const versionId = node.publish(saying('together'));
    const asked = tarballsAsked();
    const runs = [node.grant({ versionId }), node.grant({ versionId })];
    assert.deepEqual(await Promise.all(runs.map(endOf)), ['{"word":"first"}', '{"word":"first"}']);
    assert.equal(tarballsAsked(), asked + 1);
    assert.equal(node.story.filter((it) => it === 'lock stored').length, 1);
    assert.match(node.locks.get(versionId)?.toString() ?? '', /node_modules\/word/);
  });

  it('from the lock that the server has, or that another worker stored first', async () => {
    const { lock } = await index.prepare({ npm: SAYS });
    assert.ok(lock !== null);
    await index.addNpm('word', '1.5.0', { 'index.js': "export const word = 'second'" });
    await using _ = await startWorker();
    const locked = node.publish(saying('locked'));
    node.locks.set(locked, Buffer.from(lock));
    assert.equal(await endOf(node.grant({ versionId: locked })), '{"word":"first"}');
    assert.ok(!node.story.some((it) => it.startsWith('lock')));
    const raced = node.publish(saying('raced'));
    node.beforeCall = (name) => {
      if (name === 'putLock') node.locks.set(raced, Buffer.from(lock));
    };
    assert.equal(await endOf(node.grant({ versionId: raced })), '{"word":"first"}');
    assert.ok(node.story.includes('lock refused'));
    node.beforeCall = () => {};
    const alone = node.publish(saying('alone'));
    assert.equal(await endOf(node.grant({ versionId: alone })), '{"word":"second"}');
  });

  it('of called versions too', async () => {
    await using _ = await startWorker();
    const called = node.publish(saying('called'));
    const versionId = node.publish(
      `format: method/2\nname: caller\nsteps:\n  - name: inner\n    call: wf_called@${called}\n    out: { word: string }\n` +
        'result: { word: =steps.inner.word }\n',
    );
    assert.match(await endOf(node.grant({ versionId })), /"word":"(first|second)"/);
    assert.ok(node.locks.has(called));
  });

  it('again when the server was unavailable for the lock', async () => {
    await using _ = await startWorker();
    const versionId = node.publish(saying('away'));
    let refusals = 1;
    node.beforeCall = (name) => {
      if (name === 'putLock' && refusals-- > 0) throw new ServiceError('unavailable');
    };
    assert.match(await endOf(node.grant({ versionId })), /word/);
    assert.ok(node.locks.has(versionId));
  });

  it('once more each day, so that an environment in use is not removed as unused', async () => {
    await using started = await startWorker();
    const versionId = node.publish(saying('daily'));
    let fetched = 0;
    node.beforeCall = (name) => {
      if (name === 'getVersion') fetched++;
    };
    for (const afterMs of [0, 0, 25 * 3_600_000, 0]) {
      started.clock.forward(afterMs);
      assert.match(await endOf(node.grant({ versionId })), /word/);
    }
    assert.equal(fetched, 2);
  });

  it('and gives back a run whose packages are not installed when it stops', async () => {
    await using started = await startWorker();
    await index.addNpm('slow', '1.0.0', { 'index.js': '' });
    index.silentAbout = '/slow';
    const run = node.grant({ versionId: node.publish(saying('slow', 'npm: [slow@1.0.0]')) });
    await until('npm asks', () => index.requests.some((url) => url.endsWith('/slow')), INSTALL_MS_MAX);
    const stopped = started.stop();
    started.clock.forward(26_000);
    assert.equal(await endOf(run), 'giveBack');
    await stopped;
    index.silentAbout = '';
  });
});

describe('a run fails before its first step', () => {
  const failures = [
    ['commands: [no-such-command]', /^dependencies_failed dependency The command no-such-command is not on/],
    ['node: 99', /^dependencies_failed dependency The method needs Node\.js 99 or later/],
    ['npm: [missing@1.0.0]', /^dependencies_failed dependency M703: missing@1\.0\.0 was not found/],
  ] as const;
  for (const [dependencies, message] of failures) {
    it(`with ${dependencies}`, async () => {
      await using _ = await startWorker();
      const run = node.grant({ versionId: node.publish(saying('failing', dependencies)) });
      assert.match(await endOf(run), message);
      assert.equal(run.recorded.length, 1);
    });
  }

  it('with code that the interpreter of a later step cannot read', async () => {
    await using _ = await startWorker();
    const source =
      'format: method/2\nname: ab\nsteps:\n  - name: pay\n    node: f()\n  - name: note\n    python: "return {"\n';
    const run = node.grant({ versionId: node.publish(source) });
    assert.match(await endOf(run), /^step_failed syntax The code at steps\[1\]\.python, line 7, does not parse: /);
    assert.equal(run.recorded.length, 1);
  });

  it('with a lock of other packages', async () => {
    await using _ = await startWorker();
    const versionId = node.publish(saying('other'));
    node.locks.set(versionId, Buffer.from('{"format":"lock/1","npm":null,"pip":null}'));
    assert.match(
      await endOf(node.grant({ versionId })),
      /^dependencies_failed dependency M704: .* says 1\.0\.0 is not locked/,
    );
  });
});

describe('a worker', () => {
  it('announces what it can run, and logs how its steps are isolated', async () => {
    await using started = await startWorker();
    const always = ['answer_policies', 'ask', 'call', 'check', 'cleanup', 'http', 'node', 'parallel', 'steps', 'wait'];
    assert.deepEqual(node.stream.hello?.features, [...always, 'python', 'shell'].sort());
    assert.equal(started.log.filter((line) => /Steps run (in|without) a sandbox/.test(line)).length, 1);
    await started.stop();
    await using bare = await TestWorker.start(node, { path: '/nowhere' });
    assert.deepEqual(node.stream.hello?.features, always);
    await bare.stop();
  });
});
