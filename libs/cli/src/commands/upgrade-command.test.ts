import { equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';

const OLD = `format: workflow/1
workflow: Weekly report
params: [customer]
steps:
  - name: Say hello
    run: echo "hello {{customer}}"
`;
const UNCLEAR = OLD.replace('    run:', '    when: the moon is full\n    run:');

const folder = await CliFolder.make({ 'old.method': OLD, 'write.method': OLD, 'unclear.method': UNCLEAR });
after(() => folder.remove());

test('the new text is printed, and the file is unchanged', async () => {
  const { code, stdout } = await folder.methods(['upgrade', 'old.method']);
  equal(code, 0);
  match(stdout, /^# Upgraded from workflow\/1/);
  equal(await folder.read('old.method'), OLD);
});

test('--write writes it, and it checks and needs no upgrade any more', async () => {
  equal((await folder.methods(['upgrade', 'write.method', '--write'])).code, 0);
  match(await folder.read('write.method'), /format: method\/2/);
  equal((await folder.methods(['check', 'write.method', '--strict'])).code, 0);
  const { document } = await folder.json<{ changed: boolean; source: string }>(['upgrade', 'write.method']);
  equal(document.changed, false);
  equal(document.source, await folder.read('write.method'));
});

test('a file that cannot be upgraded is refused, and nothing is written', async () => {
  const { code, stderr } = await folder.methods(['upgrade', 'unclear.method', '--write']);
  equal(code, 1);
  match(stderr, /error U005/);
  match(stderr, /error: unclear\.method was not upgraded: it has 1 error/);
  equal(await folder.read('unclear.method'), UNCLEAR);
});

test('a run of an old file says what to do', async () => {
  const { code, stderr } = await folder.methods(['run', 'old.method']);
  equal(code, 1);
  match(stderr, /hint: methods upgrade old\.method --write/);
});
