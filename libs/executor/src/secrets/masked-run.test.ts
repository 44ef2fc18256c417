import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { RunHarness } from '../run-harness.fixture.ts';
import { methodOf } from '../walk/attempts.fixture.ts';

let harness: RunHarness;
before(async () => {
  harness = await RunHarness.start();
});
after(() => harness.stop());

const canary = 'c4n4ry-7f3e9b1d-5a6c-8e2f';
const secrets = new Map([['TOKEN', canary]]);

describe('the secrets of a run', () => {
  it('fail the step that returns a file by their name', async () => {
    for (const name of ['token', 'Buffer.from(token).toString("hex").replace(/../g, "$&-")', 'btoa("a" + token)']) {
      const code = `;(await import('node:fs')).writeFileSync(${name}, 'x'); return { a: step.file(${name}) }`;
      const record = await harness.last(
        methodOf(`secrets: [TOKEN]
steps:
  - name: only
    secrets: [TOKEN]
    node: |
      const token = process.env.TOKEN
      ${code}
    out: { a: file }
`),
        { secrets },
      );
      assert.deepEqual([record.status, record.error?.kind], ['failed', 'secret'], JSON.stringify(record.error));
      assert.ok(!JSON.stringify(record).includes(canary));
      // It is also not kept for the next archive of the run's files.
      const kept = await readdir(join(harness.dir, 'runs'), { recursive: true });
      assert.deepEqual(
        kept.filter((path) => path.includes('/files/')),
        [],
      );
    }
  });

  it('leave no part of themselves where a text is cut, nor in the last line of a shell’s output', async () => {
    const long = `start-${'0123456789abcdefghij'.repeat(6)}-end`;
    const method = methodOf(`secrets: [TOKEN]
steps:
  - name: only
    secrets: [TOKEN]
    shell: |
      step check "$(printf '%0110d' 0)$TOKEN" true --actual "$TOKEN"
      printf %s "$TOKEN" | base64 -w 76 >&2
      exit 3
`);
    const record = await harness.last(method, { secrets: new Map([['TOKEN', long]]) });
    const said = JSON.stringify(record);
    assert.equal(record.error?.message, 'The step ended with exit code 3: ***TOKEN***==');
    assert.ok(!said.includes('start-') && !said.includes('LWVuZA'), said);
  });

  it('are searched for in what a check or a log shows, however deep it nests', async () => {
    const record = await harness.last(
      methodOf(`secrets: [TOKEN]
steps:
  - name: only
    secrets: [TOKEN]
    node: |
      let deep = process.env.TOKEN
      for (let i = 0; i < 3000; i++) deep = [deep]
      step.check("Deep", true, { actual: deep })
      step.log("Deep", deep)
      return { n: 1 }
    out: { n: integer }
`),
      { secrets },
    );
    assert.equal(record.status, 'succeeded');
    assert.equal(record.checks[0]?.actual, '(nests deeper than 100 levels)');
    assert.equal(record.log?.text, 'Deep "(nests deeper than 100 levels)"\n');
  });
});
