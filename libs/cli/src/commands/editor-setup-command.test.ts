import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CliFolder } from '../cli.fixture.ts';

const folder = await CliFolder.make();
after(() => folder.remove());
await mkdir(join(folder.dir, '.vscode'));

test('settings keep what they hold and name the schema', async () => {
  await folder.write('.vscode/settings.json', '{"editor.tabSize": 2, "yaml.schemas": {"a": "b"}}');
  equal((await folder.methods(['editor-setup'])).code, 0);
  deepEqual(JSON.parse(await folder.read('.vscode/settings.json')), {
    'editor.tabSize': 2,
    'yaml.schemas': { a: 'b', './.vscode/method-2.schema.json': '*.method' },
    'files.associations': { '*.method': 'yaml' },
  });
  match(await folder.read('.vscode/method-2.schema.json'), /"\$schema"/);
});

test('settings with comments are not changed, and the lines to add are shown', async () => {
  const text = '{\n  // mine\n  "editor.tabSize": 2\n}';
  await folder.write('.vscode/settings.json', text);
  const { code, stderr } = await folder.methods(['editor-setup']);
  equal(code, 1);
  match(stderr, /hint: add to it: {2}"files\.associations":\{"\*\.method":"yaml"\}/);
  equal(await folder.read('.vscode/settings.json'), text);
});

test('the schema that those lines name exists', async (t) => {
  const own = await CliFolder.make();
  t.after(() => own.remove());
  await mkdir(join(own.dir, '.vscode'));
  await own.write('.vscode/settings.json', '{ "editor.tabSize": 2, }');
  equal((await own.methods(['editor-setup'])).code, 1);
  match(await own.read('.vscode/method-2.schema.json'), /"\$schema"/);
});
