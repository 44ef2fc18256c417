import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Checkout } from './checkout.fixture.ts';

// Split, since the built form of this file would otherwise name its own location.
const OWN_PLACE = ['import', 'meta', 'url'].join('.');
const MAIN = `import { Worker } from 'node:worker_threads';
import { word } from './word.ts';

type Fault = 'own' | 'thread';
const fault = process.argv[2] as Fault | undefined;
if (fault === 'own') {
  const failing = (): never => { throw new Error(word); };
  failing();
}
if (fault === 'thread') new Worker(new URL('./thread.ts', ${OWN_PLACE}));
console.log(word);
`;
const THREAD = `interface Nothing {}

const nothing: Nothing = {};
function inThread(): never {
  throw new Error(\`\${typeof nothing}\`);
}
inThread();
`;
const checkout = new Checkout({ 'main.ts': MAIN, 'thread.ts': THREAD, 'word.ts': wordIs('first') });
after(() => checkout.remove());

function wordIs(word: string): string {
  return `export const word: string = '${word}';\n`;
}

function change(word: string): void {
  checkout.write('services/words/src/word.ts', wordIs(word));
}

async function says(word: string): Promise<void> {
  assert.deepEqual(await checkout.start(), { code: 0, stdout: `${word}\n`, stderr: '' });
}

/** By name, with the time of the last change inside. */
function builtIn(folder: string): Map<string, number> {
  return new Map(readdirSync(folder).map((name) => [name, statSync(join(folder, name, 'built.json')).ctimeMs]));
}

test('concurrent first starts all run, and leave one build', async () => {
  await Promise.all([says('first'), says('first'), says('first')]);
  assert.equal(builtIn(checkout.kept).size, 1);
});

test('a start builds nothing when the sources are unchanged, and always runs the present ones', async () => {
  const before = builtIn(checkout.kept);
  change('second');
  await says('second');
  const both = builtIn(checkout.kept);
  assert.equal(both.size, 2);
  change('first');
  await says('first');
  assert.deepEqual(builtIn(checkout.kept), both);
  for (const [name, at] of before) assert.equal(both.get(name), at);
});

test('the stack of a fault names the lines of the sources, in a process and in a thread', async () => {
  const own = await checkout.start(['own']);
  assert.equal(own.code, 1);
  const source = (file: string) => join(checkout.root, 'services/words/src', file);
  assert.ok(own.stderr.includes(`Error: first\n    at failing (${source('main.ts')}:7:40)`), own.stderr);
  assert.ok(own.stderr.includes(`at ${source('main.ts')}:8:3\n`), own.stderr);
  const inThread = await checkout.start(['thread']);
  assert.equal(inThread.code, 1);
  assert.ok(inThread.stderr.includes(`at inThread (${source('thread.ts')}:5:9)`), inThread.stderr);
});

test('an incomplete build is built again', async () => {
  const [name = ''] = builtIn(checkout.kept).keys();
  for (const built of builtIn(checkout.kept).keys()) {
    truncateSync(join(checkout.kept, built, 'services.words.src.main.mjs'), 10);
  }
  await says('first');
  assert.ok(builtIn(checkout.kept).has(name));
  await says('first');
});

test('a build removes what killed builds left and states that no start used for an hour', async () => {
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  const leave = (name: string, at: Date) => {
    mkdirSync(join(checkout.kept, name));
    utimesSync(join(checkout.kept, name), at, at);
  };
  for (let n = 0; n < 6; n++) leave(`old-${n}`, longAgo);
  leave('unfinished-1', longAgo);
  leave('unfinished-2', new Date());
  leave('used', new Date());
  change('third');
  await says('third');
  const left = readdirSync(checkout.kept);
  assert.ok(left.includes('unfinished-2') && left.includes('used'), left.join());
  assert.ok(!left.includes('unfinished-1'), left.join());
  assert.ok(left.filter((name) => name.startsWith('old')).length < 4, left.join());
});

test('faulty sources are named, nothing of them is kept, and a start after they are fixed runs', async () => {
  rmSync(checkout.kept, { recursive: true });
  checkout.write('services/words/src/word.ts', 'export const word = ;\n');
  const { code, stdout, stderr } = await checkout.start();
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^The code cannot be built\.\n/);
  assert.match(stderr, /services\/words\/src\/word\.ts:1:20: ERROR: Unexpected ";"/);
  assert.deepEqual(readdirSync(checkout.kept), []);
  change('mended');
  await says('mended');
});

test('a cache location that cannot be written, or that others may write, is skipped', async () => {
  rmSync(checkout.kept, { recursive: true });
  writeFileSync(checkout.kept, 'no folder');
  await says('mended');
  const ofUser = join(checkout.caches, 'methods/built');
  assert.equal(builtIn(ofUser).size, 1);
  chmodSync(ofUser, 0o777);
  rmSync(join(ofUser, [...builtIn(ofUser).keys()].join()), { recursive: true });
  await says('mended');
  assert.equal(builtIn(ofUser).size, 0);
  const [temporary = ''] = readdirSync(checkout.temporary);
  assert.equal(builtIn(join(checkout.temporary, temporary)).size, 1);
});

test('where nothing can be written the start says so and leaves nothing', async () => {
  change('nowhere');
  // The effect of a full disk on a file that grows.
  const { code, stdout, stderr } = await checkout.start([], ['sh', '-c', 'ulimit -f 1; exec "$@"', 'sh']);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^The built code cannot be kept anywhere\.\n/);
  assert.match(stderr, /EFBIG/);
  const [temporary = ''] = readdirSync(checkout.temporary);
  assert.equal(builtIn(join(checkout.temporary, temporary)).size, 1);
});
