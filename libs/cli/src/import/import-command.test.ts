import { equal, match } from 'node:assert/strict';
import { after, test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';

const RECORDING = JSON.stringify({
  title: 'Log in',
  steps: [
    { type: 'navigate', url: 'https://shop.example.com/login' },
    { type: 'change', selectors: [['#password']], value: 'hunter2-recorded' },
    { type: 'click', selectors: [['aria/Sign in'], ['#submit']] },
  ],
});

const folder = await CliFolder.make({ 'recording.json': RECORDING, 'other.json': '{"a": 1}' });
after(() => folder.remove());

test('a recording becomes a draft that checks, without the recorded password', async () => {
  const { code } = await folder.methods(['import', 'recording.json', '-o', 'draft.method']);
  equal(code, 0);
  const draft = await folder.read('draft.method');
  match(draft, /format: method\/2/);
  equal(draft.includes('hunter2'), false);
  equal((await folder.methods(['check', 'draft.method'])).code, 0);
});

test('a draft never replaces a file', async () => {
  await folder.write('mine.method', 'mine');
  const { code } = await folder.methods(['import', 'recording.json', '-o', 'mine.method']);
  equal(code, 1);
  equal(await folder.read('mine.method'), 'mine');
});

test('a file that is not a recording is refused', async () => {
  const { code, stderr } = await folder.methods(['import', 'other.json']);
  equal(code, 1);
  match(stderr, /^error: other\.json gives no draft: this is neither HAR/);
});
