import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import { programArguments } from '@methods/test/harness/program-arguments';
import { NOTHING, PATH, PackageIndex } from './package-index.fixture.ts';

/** On an idle machine it is a fifth of a second. */
const FIRST_STEP_MS_MAX = 60_000;
const PREPARE = new URL('./prepare-dependencies.ts', import.meta.url);
const HARNESS = new URL('../code-harness.fixture.ts', import.meta.url);
const METHOD = new URL('../hand-built-method.fixture.ts', import.meta.url);

let index: PackageIndex;
before(async () => {
  index = await PackageIndex.start();
  await index.addNpm('warm', '1.0.0', { 'index.js': 'export const a = 1' });
  await index.addWheel('pywarm', '1.0', 'a = 1');
});
after(() => index.stop());

/** Time in a new process from the grant to the end of a first step, with prepared packages. */
async function firstStepMs(kind: 'node' | 'python', code: string): Promise<number> {
  const dependencies = {
    ...NOTHING,
    npm: kind === 'node' ? [{ name: 'warm', version: '1.0.0' }] : [],
    pip: kind === 'python' ? [{ name: 'pywarm', version: '1.0' }] : [],
  };
  const { lock } = await index.prepare(dependencies);
  const asked = index.requests.length;
  const script = `
    const { prepareDependencies } = await import('${PREPARE.href}');
    const { CodeHarness } = await import('${HARNESS.href}');
    const { node } = await import('${METHOD.href}');
    const harness = await CodeHarness.start();
    const beganMs = performance.now();
    const lock = Buffer.from(${JSON.stringify(Buffer.from(lock ?? []).toString('base64'))}, 'base64');
    const options = { cacheDir: ${JSON.stringify(`${index.dir}/cache`)}, path: ${JSON.stringify(PATH)}, lock,
      allowScripts: false, host: new Map(), pythons: harness.runners.pythons };
    const { environment } = await prepareDependencies({ dependencies: ${JSON.stringify(dependencies)} }, options);
    const end = await harness.run(node('only', ${JSON.stringify(code)}, { kind: '${kind}' }), { environment });
    const endMs = performance.now();
    await harness.stop();
    console.log(JSON.stringify({ returned: end.returned, ms: endMs - beganMs }));`;
  const { stdout } = await promisify(execFile)(process.execPath, programArguments(script, PREPARE));
  const { returned, ms } = JSON.parse(stdout) as { returned: unknown; ms: number };
  assert.equal(returned, 1);
  assert.deepEqual(index.requests.slice(asked), [], 'nothing was prepared again');
  return ms;
}

it('a version that was prepared before starts its first step at once in a new process', async (test) => {
  const nodeMs = await firstStepMs('node', "import { a } from 'warm';\nreturn a");
  const pythonMs = await firstStepMs('python', 'import pywarm\nreturn pywarm.a');
  test.diagnostic(`first step: node ${Math.round(nodeMs)} ms, python ${Math.round(pythonMs)} ms`);
  assert.ok(nodeMs < FIRST_STEP_MS_MAX, `node ${nodeMs} ms`);
  assert.ok(pythonMs < FIRST_STEP_MS_MAX, `python ${pythonMs} ms`);
});
