import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { until } from '@methods/test/harness/until';
import { CliFolder, ended, printed } from '../cli.fixture.ts';

const folders: CliFolder[] = [];
after(() => Promise.all(folders.map((folder) => folder.remove())));

async function folderWith(files: Readonly<Record<string, string>>): Promise<CliFolder> {
  const folder = await CliFolder.make(files);
  folders.push(folder);
  return folder;
}

async function runDir(folder: CliFolder): Promise<string> {
  const [runId = ''] = await folder.runs();
  return `.methods/runs/${runId}`;
}

const method = (...steps: string[]) => `format: method/2
name: told
inputs: { who: string = Ann }
secrets: [SHOP_TOKEN]
steps:
${steps.join('\n')}
`;

test('the folder of a step holds its inputs, prints and logs, without secrets', async () => {
  const talk = `  - name: talk
    each: '["a", "b"]'
    in: { letter: =item, who: =inputs.who }
    secrets: [SHOP_TOKEN]
    node: |
      const token = process.env.SHOP_TOKEN
      console.log('out ' + token)
      console.error('err ' + btoa(token))
      step.log('said', { token })
      step.progress(0.5, 'half ' + token)
      step.check('no ' + token, true, { actual: encodeURIComponent(token) })
      return { letter }
    out: { letter: string }`;
  const folder = await folderWith({ 'told.method': method(talk) });
  const secret = 'to/ken with "quotes"';
  const args = ['run', 'told.method', '--inputs', JSON.stringify({ who: `Ann ${secret}` })];
  const { stdout, code } = await folder.methods(args, { SHOP_TOKEN: secret });
  equal(code, 0, stdout);
  const dir = `${await runDir(folder)}/steps/talk.1`;
  deepEqual((await readdir(join(folder.dir, dir))).sort(), [
    'events.ndjson',
    'in.json',
    'out.json',
    'stderr.log',
    'stdout.log',
  ]);
  deepEqual(JSON.parse(await folder.read(`${dir}/in.json`)), { letter: 'b', who: 'Ann ***SHOP_TOKEN***' });
  equal(await folder.read(`${dir}/stdout.log`), 'out ***SHOP_TOKEN***\n');
  match(await folder.read(`${dir}/stderr.log`), /^err \*\*\*SHOP_TOKEN\*\*\*/);
  const events = (await folder.read(`${dir}/events.ndjson`))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { time: string });
  ok(events.every(({ time }) => !Number.isNaN(Date.parse(time))));
  const check = { name: 'no ***SHOP_TOKEN***', ok: true, level: 'error', message: null, actual: '***SHOP_TOKEN***' };
  deepEqual(
    events.map(({ time: _, ...event }) => event),
    [
      { t: 'log', message: 'said', data: { token: '***SHOP_TOKEN***' } },
      { t: 'progress', at: 0.5, message: 'half ***SHOP_TOKEN***' },
      { t: 'check', ...check },
    ],
  );
  match(stdout, /│ progress 50 % half \*\*\*SHOP_TOKEN\*\*\*\n/);
});

test('a long log leaves its end in the folder, and a journal that can be read again', async () => {
  const long = `  - name: long
    in: { line: '=["x"]' }
    node: |
      for (let i = 0; i < 40000; i++) console.log(String(i).padStart(99, line[0]))
      for (let i = 0; i < 20000; i++) step.log(String(i).padStart(99, line[0]))
  - name: ask
    ask: Go on?
    out: { yes: boolean }`;
  const folder = await folderWith({ 'told.method': method(long) });
  const { code } = await folder.methods(['run', 'told.method', '--quiet'], { SHOP_TOKEN: 'shop-token' });
  equal(code, 4);
  const dir = await runDir(folder);
  const log = await folder.read(`${dir}/steps/long/stdout.log`);
  ok(log.length <= 1024 * 1024 && log.endsWith('39999\n'), `${log.length}`);
  const events = await folder.read(`${dir}/steps/long/events.ndjson`);
  ok(events.length <= 1024 * 1024, `${events.length}`);
  for (const line of events.trim().split('\n')) JSON.parse(line);
  ok((await folder.read(`${dir}/journal.ndjson`)).length < 256 * 1024);
});

test('the inputs of a step are there while it runs', async () => {
  const hang = `  - name: hang
    in: [inputs.who]
    node: |
      console.log('begun')
      if (step.try > 0 && who === 'Ann') await new Promise(() => setInterval(() => {}, 1000))`;
  const folder = await folderWith({ 'told.method': method(hang) });
  const child = folder.spawn(['run', 'told.method'], { SHOP_TOKEN: 'shop-token' });
  const end = ended(child);
  await printed(child, 'begun');
  // It may print before its file exists; it hangs until both are done.
  const dir = await runDir(folder);
  const given = await until('what it was given', () =>
    folder.read(`${dir}/steps/hang/in.json`).then(JSON.parse, () => null),
  );
  child.kill('SIGKILL');
  await end;
  deepEqual(given, { who: 'Ann' });
});
