// The guide is walked as its reader walks it: files are written as shown, commands are typed, and their output must be
// the text below them. A block fenced as `yaml NAME` is a file, as `yaml >> NAME` is added to one, as `console` is
// typed.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { tempFolder } from '../harness/temp-folder.ts';
import { documents } from '../tidy/source-files.ts';
import { commandsOf, ReaderFolder } from './console-blocks.ts';
import { fencedBlocks } from './fenced-blocks.ts';

const COMMANDS_MIN = 12;

const page = documents.find(({ path }) => path === 'docs/writing-methods.md') ?? { path: '', text: '' };
const reader = new ReaderFolder(tempFolder('guide'));
after(() => rmSync(reader.dir, { recursive: true, force: true }));

test('every command of the guide prints what the guide says', () => {
  let typed = 0;
  for (const block of fencedBlocks(page)) {
    const [, target] = /^yaml (.+)$/.exec(block.info) ?? [];
    if (target !== undefined) reader.write(target, block.text);
    else if (block.info === 'console') {
      for (const { command, told, at } of commandsOf(block)) {
        assert.equal(reader.type(command), told, `${at}: ${command}`);
        typed++;
      }
    } else assert.fail(`${block.at}: nothing looks at a block fenced as ${block.info}`);
  }
  assert.ok(typed >= COMMANDS_MIN, `only ${typed} commands were typed`);
});
