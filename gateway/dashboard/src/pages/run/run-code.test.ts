import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { curlStart, nodeStart, pythonStart } from './run-code.ts';

const INPUTS = { text: `it's "quoted" $HOME \`id\` \\ \u2028 \n <b>`, __proto: 1 };
const start = {
  server: 'http://127.0.0.1:4600',
  method: 'wf_1',
  version: 'ver_1',
  inputsJson: JSON.stringify(INPUTS),
};

test('a shell reads the body as it is', () => {
  const words = curlStart(start).replace(/^curl/, 'printf "%s\\n"');
  const lines = execFileSync('sh', ['-c', words], { encoding: 'utf8' }).split('\n');
  const body = JSON.parse(lines[lines.indexOf('-d') + 1] ?? '');
  assert.deepEqual(body, { method: 'wf_1', version: 'ver_1', inputs: INPUTS });
});

test('JavaScript reads the inputs as they are', () => {
  const [, inputs] = /inputs: (.*),\n\}\);/s.exec(nodeStart(start)) ?? [];
  assert.deepEqual(JSON.parse(runInNewContext(`JSON.stringify(${inputs})`)), INPUTS);
  const odd = nodeStart({ ...start, inputsJson: '{"__proto__":{"a":1}}' });
  assert.match(odd, /inputs: JSON\.parse\("/);
});

test('Python reads the inputs as they are', (t) => {
  const [, text] = /json\.loads\((.*?)\),\n/s.exec(pythonStart(start)) ?? [];
  try {
    const printed = execFileSync('python3', ['-c', `import json; print(json.dumps(json.loads(${text})))`]);
    assert.deepEqual(JSON.parse(String(printed)), INPUTS);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    t.diagnostic('there is no python3');
  }
});
