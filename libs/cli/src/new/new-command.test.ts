import { deepEqual, equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { compileMethod } from '@methods/method/compile';
import { CliFolder } from '../cli.fixture.ts';
import { STARTERS } from './new-command.ts';

const folder = await CliFolder.make();
after(() => folder.remove());

test('every starter is a method without faults, with tests', () => {
  for (const { kind, text } of STARTERS) {
    const { method, diagnostics } = compileMethod(text('my-method'));
    deepEqual([kind, diagnostics], [kind, []]);
    equal((method?.tests.length ?? 0) > 0, true);
  }
});

test('a new method passes its own tests', async () => {
  for (const kind of ['node', 'http', 'ask', 'shell']) {
    equal((await folder.methods(['new', `t-${kind}`, '--kind', kind])).code, 0);
    deepEqual([kind, (await folder.methods(['test', `t-${kind}.method`])).stderr], [kind, '']);
  }
});

test('an existing file is not replaced', async () => {
  await folder.write('kept.method', 'mine');
  const { code, stderr } = await folder.methods(['new', 'kept']);
  equal(code, 1);
  match(stderr, /^error: cannot write kept\.method: it is there already/);
  equal(await folder.read('kept.method'), 'mine');
});

test('a name that methods cannot have is wrong usage', async () => {
  const { code, stderr } = await folder.methods(['new', 'Refund Order']);
  equal(code, 2);
  match(stderr, /"Refund Order" is not a valid method name/);
});
