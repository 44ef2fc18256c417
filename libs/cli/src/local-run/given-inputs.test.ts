import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { INPUT_FILE_LIMITS } from '@methods/method/file-limits';
import { readHumanFile } from '../question/given-answer.ts';
import { type GivenFile, givenInputs } from './given-inputs.ts';
import { readJsonOption } from './local-inputs.ts';

let cwd: string;
let placed: string[];
before(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'given-'));
  for (const name of ['a', 'b']) await writeFile(join(cwd, name), name);
  await writeFile(join(cwd, 'large'), '');
  // Without a byte on the disk.
  await truncate(join(cwd, 'large'), INPUT_FILE_LIMITS.fileBytesMax + 1);
  await truncate(join(cwd, 'b'), INPUT_FILE_LIMITS.fileBytesMax);
});
after(() => rm(cwd, { recursive: true, force: true }));

async function given(...options: string[]) {
  placed = [];
  const place = ({ name }: GivenFile, number: number) => {
    placed.push(name);
    return { file_id: `${number}` };
  };
  const context = { cwd, interrupted: new AbortController().signal };
  return (await givenInputs(options, context, INPUT_FILE_LIMITS, place)).values;
}

test('files are in the inputs by name, a repeated name as a list, after the items of the JSON', async () => {
  deepEqual(await given('{"n": 1}', 'x=@a', 'y=@b', 'y=@a'), {
    n: 1,
    x: { file_id: '0' },
    y: [{ file_id: '1' }, { file_id: '2' }],
  });
  deepEqual(await given('{"x": [{"file_id": "f"}]}', 'x=@a'), { x: [{ file_id: 'f' }, { file_id: '0' }] });
  deepEqual(await given('{"x": []}', 'x=@a'), { x: [{ file_id: '0' }] });
  equal(placed.length, 1);
});

test('an input that the JSON also gives is refused, with any value', async () => {
  for (const value of ['1', 'null', '"@a"', '{}', '{"file_id":"f"}', 'false']) {
    await rejects(given(`{"x": ${value}}`, 'x=@a'), {
      code: 'usage',
      message: 'the input x is given twice: by the JSON and by x=@FILE',
    });
  }
  deepEqual(await given('{"X": 1, "xx": 2}', 'x=@a'), { X: 1, xx: 2, x: { file_id: '0' } });
});

test('too much is refused before the first file is placed', async () => {
  await rejects(given('x=@a', 'y=@large'), {
    code: 'too_large',
    message: 'large has 100.1 MiB; a file among the inputs has at most 100 MiB',
  });
  await rejects(given(...Array(11).fill('x=@b')), {
    code: 'too_large',
    message: 'the files among the inputs have 1100 MiB together; at most 1024 MiB are taken',
  });
  await rejects(given(...Array(101).fill('x=@a')), {
    code: 'too_large',
    message: 'the inputs name 101 files; a run takes at most 100',
  });
  await rejects(given('x=@a', 'y=@missing'), { code: 'not_found', message: /cannot read missing/ });
  await rejects(given('x=@a', 'y=@.'), { code: 'not_found', message: '. is not a file' });
  deepEqual(placed, []);
});

test('an interrupt ends the wait for standard input', async () => {
  const interrupt = new AbortController();
  const read = readJsonOption('--inputs', '@-', { cwd, interrupted: interrupt.signal }, new PassThrough());
  interrupt.abort();
  await rejects(read, { code: 'not_found' });
});

test('a byte order mark before the JSON of a file is not part of it', async () => {
  await writeFile(join(cwd, 'marked.json'), '\uFEFF{"n": 1}');
  deepEqual(await given('@marked.json'), { n: 1 });
});

test('inputs and answers in a file that is not UTF-8 are refused, and keep no other letters', async () => {
  for (const name of ['latin1.json', 'latin1.yaml']) {
    await writeFile(join(cwd, name), Buffer.from('{"name": "Müller"}', 'latin1'));
    await rejects(given(`@${name}`), { message: '--inputs is not JSON: its text is not UTF-8' });
    await rejects(readHumanFile(name, cwd), { message: `${name} is not YAML or JSON: its text is not UTF-8` });
  }
});
