import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Attempts, methodOf } from './attempts.fixture.ts';

/** Fails in the part named; `on_failure` asks with the failure's texts. */
function failing(part: string): ReturnType<typeof methodOf> {
  const check = (name: string) => (part === name ? `${name}:\n  - It holds: inputs.n > 1\n` : '');
  return methodOf(
    `${check('require')}steps:
  - name: plain
    check:
      - It is so: ${part === 'plain' ? 'inputs.n > 1' : 'inputs.n > 0'}
${check('ensure')}on_failure:
  - name: tell
    ask: In \${failure.step}, \${failure.kind}
    out: { seen: boolean }
result: { n: =10 ${part === 'result' ? '/' : '*'} (inputs.n - 1) }
`,
    'inputs: { n: integer = 1 }',
  );
}

describe('failure.step', () => {
  for (const [part, kind] of [
    ['plain', 'check'],
    ['require', 'check'],
    ['ensure', 'check'],
    ['result', 'expression'],
  ]) {
    it(`names ${part} where that failed`, async () => {
      const run = new Attempts(failing(part ?? ''));
      const asked = await run.run({ inputs: { n: 1 } });
      assert.equal(asked.status === 'waiting' && asked.question.prompt, `In ${part}, ${kind}`);
      const end = await run.answer('on_failure/tell', { seen: true });
      assert.equal(end.status, 'failed');
    });
  }
});

describe('a call inside a called method', () => {
  it('is looked up by the bindings of the called method', async () => {
    const caller = (target: string) =>
      methodOf(
        `steps:\n  - name: inner\n    call: ${target}\n    out: { v: integer }\nresult: { v: =steps.inner.v }\n`,
      );
    const leaf = methodOf('steps:\n  - name: ok\n    check:\n      - True: run.id != ""\nresult: { v: =7 }\n');
    const asked: string[] = [];
    const run = new Attempts(caller('wf_middle'), {
      callee: async (target) => {
        asked.push(`outer ${target.kind === 'method' && target.method}`);
        return {
          method: caller('wf_leaf'),
          versionId: 'ver_middle',
          callee: async (inner) => {
            asked.push(`middle ${inner.kind === 'method' && inner.method}`);
            return { method: leaf, versionId: 'ver_leaf' };
          },
        };
      },
    });
    const end = await run.run();
    assert.deepEqual(end.status === 'succeeded' && end.result, { v: 7 });
    assert.deepEqual(asked, ['outer wf_middle', 'middle wf_leaf']);
  });
});
