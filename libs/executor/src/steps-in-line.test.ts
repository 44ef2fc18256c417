// Steps of any node and python code queued at one process, each behind one that prints, returns files or leaves
// something behind.
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CodeStep } from '@methods/method/compiled-method';
import { until } from '@methods/test/harness/until';
import { type CodeEnd, CodeHarness, LEAVES_GROUP } from './code-harness.fixture.ts';
import { literal, node, out } from './hand-built-method.fixture.ts';

const OUT = { out: out({ n: { type: 'integer' } }) };
const ENDS = { node: 'await null; return { n }', python: 'return {"n": n}' } as const;

/** Lets the others begin only when they are queued: it waits for a file that is written then. */
const WAITS = {
  node: `const fs = await import('node:fs'); while (!fs.existsSync(go)) await new Promise((on) => setTimeout(on, 5));\n`,
  python: `import os, time\nwhile not os.path.exists(go):\n    time.sleep(0.005)\n`,
} as const;

let harness: CodeHarness;
before(async () => {
  harness = await CodeHarness.start({ runnersMax: 1, spawnAfterMs: 30_000 });
});
after(() => harness.stop());

type Kind = keyof typeof ENDS;
let serial = 0;

/** Runs the code for each number of `count` in one process, all but the first from its queue. */
async function inLine(
  kind: Kind,
  count: number,
  code: (n: number) => string,
  more: Partial<Pick<CodeStep, 'out' | 'stdout'>> = {},
) {
  const go = join(mkdtempSync(join(harness.dir, 'go-')), 'go');
  const versionId = `ver_${++serial}` as const;
  const step = (n: number, first: string) =>
    node(`step_${n}`, `${first}${code(n)}\n${ENDS[kind]}`, {
      kind,
      inputs: { n: literal(n), go: literal(go) },
      ...OUT,
      ...more,
    });
  const run = (n: number, first = '') => harness.run(step(n, first), { versionId });
  const runs = [run(0, WAITS[kind])];
  await until('the process is there', () => harness.runners.size === 1);
  for (let n = 1; n < count; n++) runs.push(run(n));
  await until('the steps wait in line', () => harness.runners.queuedCount === count - 1);
  writeFileSync(go, '');
  return Promise.all(runs);
}

const logs = (ends: readonly CodeEnd[]) => ends.map(({ log }) => log?.text ?? '');
const numbers = (ends: readonly CodeEnd[]) =>
  ends.map(({ returned, failure }) => failure ?? (returned as { n: number }).n);

describe('steps queued at a runner', { timeout: 120_000 }, () => {
  it('print each into their own log, in any way', async () => {
    const ways = [
      "console.log('number', n)",
      'process.stdout.write(`number ${n}\\n`)',
      "(await import('node:fs')).writeSync(1, `number ${n}\\n`)",
      "(await import('node:child_process')).execSync(`echo number ${n}`, { stdio: 'inherit' })",
      "console.log('number', n); (await import('node:fs'))",
      "(await import('node:fs')).writeSync(2, `number ${n}\\n`)",
    ];
    const ends = await inLine('node', ways.length, (n) => ways[n] ?? '');
    assert.deepEqual(numbers(ends), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(
      logs(ends),
      [0, 1, 2, 3, 4, 5].map((n) => `number ${n}\n`),
    );
  });

  it('print each into their own log (python)', async () => {
    const ways = [
      'print("number", n)',
      'import os\nos.write(1, b"number %d\\n" % n)',
      'import subprocess\nsubprocess.run(["echo", "number", str(n)])',
      'import sys\nprint("number", n, file=sys.stderr)',
    ];
    const ends = await inLine('python', ways.length, (n) => ways[n] ?? '');
    assert.deepEqual(numbers(ends), [0, 1, 2, 3]);
    assert.deepEqual(
      logs(ends),
      [0, 1, 2, 3].map((n) => `number ${n}\n`),
    );
  });

  it('print large and half characters into their own log', async () => {
    const ways = [
      "console.log('x'.repeat(3_000_000)); console.log('end', n)",
      "(await import('node:fs')).writeSync; process.stdout.write('y'.repeat(3_000_000)); console.log('end', n)",
      "console.log('€'.repeat(400_000)); console.log('end', n)",
    ];
    const ends = await inLine('node', ways.length, (n) => ways[n] ?? '');
    assert.deepEqual(numbers(ends), [0, 1, 2]);
    const [x = '', y = '', euros = ''] = logs(ends);
    assert.match(x, /^x+\nend 0\n$/);
    assert.match(y, /^y+end 1\n$/);
    assert.match(euros, /^€+\nend 2\n$/);
    assert.deepEqual(
      ends.map(({ log }) => log?.bytes),
      [3_000_000 + 7, 3_000_000 + 6, 1_200_000 + 7],
    );
  });

  it('give their prints as a field, and only theirs', async () => {
    const more = {
      stdout: { field: 'text', as: 'text' as const },
      out: out({ n: { type: 'integer' }, text: { type: 'string' } }),
    };
    const ends = await inLine('node', 3, () => "console.log('number', n)", more);
    assert.deepEqual(
      ends.map(({ returned }) => (returned as { text: string }).text),
      ['number 0', 'number 1', 'number 2'],
    );
  });

  for (const kind of ['node', 'python'] as const) {
    it(`find an empty folder behind one that gives files (${kind})`, async () => {
      const gives = {
        node: "fs.writeFileSync('given.txt', 'given'); return { n, file: step.file('given.txt') }",
        python: 'open("given.txt", "w").write("given")\nreturn {"n": n, "file": step.file("given.txt")}',
      }[kind];
      const looks = {
        node: "const names = (await import('node:fs')).readdirSync('.'); console.log(names.length)",
        python: 'import os\nprint(len(os.listdir(".")))',
      }[kind];
      const empty = { node: 'return { n, file: null }', python: 'return {"n": n, "file": None}' }[kind];
      const any = { n: { type: 'integer' }, file: {} };
      const more = { out: out(any, { hasFile: true }) };
      const ends = await inLine(kind, 3, (n) => (n === 0 ? gives : `${looks}\n${empty}`), more);
      assert.deepEqual(logs(ends.slice(1)), ['0\n', '0\n']);
      assert.deepEqual(
        ends.map(({ returned }) => (returned as { file: { bytes: number } | null }).file?.bytes),
        [5, undefined, undefined],
      );
    });

    it(`begin elsewhere, once each, where the one before them leaves a process or ends its own (${kind})`, async () => {
      const leaves = {
        node: `(await import('node:child_process')).execFileSync('sh', ['-c', ${JSON.stringify(LEAVES_GROUP)}])`,
        python: `import subprocess\nsubprocess.run(["sh", "-c", ${JSON.stringify(LEAVES_GROUP)}])`,
      }[kind];
      const exits = { node: 'process.exit(7)', python: 'import os\nos._exit(7)' }[kind];
      const marks = mkdtempSync(join(harness.dir, 'marks-'));
      const mark = {
        node: (n: number) => `(await import('node:fs')).writeFileSync('${marks}/${n}', '', { flag: 'wx' })`,
        python: (n: number) => `open("${marks}/${n}", "x")`,
      }[kind];
      const ends = await inLine(kind, 5, (n) => (n === 1 ? leaves : n === 3 ? exits : mark(n)));
      assert.equal(ends[3]?.failure?.kind, 'exit');
      assert.deepEqual(numbers(ends.filter((_, n) => n !== 3)), [0, 1, 2, 4]);
    });
  }

  it('do not get late prints of an earlier one', async () => {
    const ways = [
      "setTimeout(() => console.log('late'), 1); setImmediate(() => console.log('late'))",
      "Promise.resolve().then(() => {}).then(() => {}).then(() => console.log('in time or lost')); console.log('one')",
      "console.log('two')",
    ];
    const ends = await inLine('node', ways.length, (n) => ways[n] ?? '');
    assert.deepEqual(numbers(ends), [0, 1, 2]);
    assert.equal(logs(ends)[2], 'two\n');
  });

  it('are not harmed by one that sends too much', async () => {
    const ends = await inLine('node', 3, (n) => (n === 1 ? "step.log('x'.repeat(12 * 1024 * 1024 + 1))" : ''));
    assert.equal(ends[1]?.failure?.kind, 'limit');
    assert.deepEqual(numbers([ends[0], ends[2]] as CodeEnd[]), [0, 2]);
  });

  it('get the environment and folder of a fresh process after one that changed them', async () => {
    const spoils = `process.env.LEFT = 'x'; process.chdir('/'); process.umask(0o777); console.log = () => {};
process.stdout.write = () => true; delete process.env.HOME`;
    const looks = 'console.log(process.env.LEFT, process.cwd() === process.env.HOME, process.umask())';
    const ends = await inLine('node', 3, (n) => (n === 1 ? spoils : n === 2 ? looks : ''));
    assert.deepEqual(numbers(ends), [0, 1, 2]);
    assert.equal(logs(ends)[2], 'undefined true 18\n');
  });

  const harms = {
    'closes its outputs': 'fs.closeSync(1); fs.closeSync(2)',
    'puts a file in the place of an output': "fs.closeSync(1); fs.openSync('/dev/null', 'w')",
    'shuts an output down': 'process.stdout.end()',
    'closes the tickets': 'fs.closeSync(5)',
    'changes how all code writes JSON': "JSON.stringify = () => '{}'",
  };
  for (const [what, code] of Object.entries(harms)) {
    it(`are not harmed by one that ${what}`, async () => {
      const prints = "await import('node:os'); process.stdout.write(`number ${n}\\n`)";
      const ends = await inLine('node', 4, (n) => (n === 0 ? code : prints));
      assert.deepEqual(numbers(ends), [0, 1, 2, 3]);
      assert.deepEqual(logs(ends.slice(1)), ['number 1\n', 'number 2\n', 'number 3\n']);
    });
  }

  it('are not harmed by one that closes the tickets (python)', async () => {
    const ends = await inLine('python', 3, (n) => (n === 0 ? 'os.close(5)' : 'print("number", n)'));
    assert.deepEqual(numbers(ends), [0, 1, 2]);
    assert.deepEqual(logs(ends.slice(1)), ['number 1\n', 'number 2\n']);
  });
});
