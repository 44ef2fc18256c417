import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { CliFolder, METHODS } from '../cli.fixture.ts';
import { readConfig } from '../config.ts';
import { TerminalProcess } from '../terminal/terminal-process.fixture.ts';
import { SPEND } from './spend.fixture.ts';

const ASKING = `format: method/2
name: asking
steps:
  - name: approval
    ask: Go ahead?
    out:
      decision: [approve, reject]
      pieces: integer 1..10
result: { pieces: =steps.approval.pieces, decision: =steps.approval.decision }
`;
const LONGER = `format: method/2
name: longer
steps:
  - name: form
    ask: What is to be done?
    out:
      tags: list<string>
      note?: string
      reason: text
result: { answer: =steps.form }
`;

const folder = await CliFolder.make({ 'asking.method': ASKING, 'longer.method': LONGER, 'spend.method': SPEND });
after(() => folder.remove());
let terminal: TerminalProcess | null = null;
afterEach(() => terminal?.stop());

function onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): TerminalProcess {
  const options = { cwd: folder.dir, env: { PATH: readConfig().path, HOME: folder.dir, ...env } };
  terminal = new TerminalProcess(process.execPath, [METHODS, ...args], options);
  return terminal;
}

test('a question is asked field by field, and faults are shown during typing', async () => {
  const shown = onTerminal(['run', 'asking.method']);
  await shown.shows('(1 approve, 2 reject)');
  shown.type('\u001b[B\u001b[B');
  await shown.until('the second choice', (screen) => screen.cursorLine.trim() === '› reject');
  shown.type('\r');
  await shown.shows('pieces (a whole number from 1 to 10)');
  shown.type('99');
  await shown.shows('must be at most 10');
  // Enter does not accept it; the line stays to be corrected.
  shown.type('\r\u007f\u007f');
  await shown.until('an empty line', (screen) => screen.cursorLine.trim() === '›');
  shown.type('7\r');
  equal(await shown.exited, 0);
  ok(!shown.screen.text.includes('must be'), 'hints are taken away');
  match(shown.screen.text, /"pieces": 7,\s+"decision": "reject"/);
  match(shown.screen.text, /Go ahead\?/);
});

test('lists are entered item by item, optional fields skipped by Enter, long texts written in the editor', async () => {
  const editor = join(folder.dir, 'editor.sh');
  await folder.write('editor.sh', '#!/bin/sh\nprintf "two\\nlines\\n" > "$1"\n');
  const shown = onTerminal(['run', 'longer.method'], { EDITOR: `sh ${editor}` });
  await shown.shows('tags (a list, an item a line)');
  shown.type('one, and a half\r');
  await shown.shows('1 so far');
  shown.type('zwei\r');
  await shown.shows('2 so far');
  shown.type('\r');
  await shown.shows('note (text; Enter leaves it out)');
  shown.type('\r');
  await shown.shows('Enter opens sh');
  shown.type('\r');
  equal(await shown.exited, 0);
  const [runId = ''] = (await folder.runs()).slice(-1);
  const result = JSON.parse(await readFile(join(folder.dir, '.methods', 'runs', runId, 'result.json'), 'utf8'));
  deepEqual(result.answer, { tags: ['one, and a half', 'zwei'], reason: 'two\nlines' });
});

test('a form is filled in with many keys, and nothing else is printed', async () => {
  const shown = onTerminal(['run', 'longer.method']);
  await shown.shows('tags (a list, an item a line)');
  for (const key of 'one by one, as people type') {
    const before = shown.output.length;
    shown.type(key);
    await shown.until('the key is drawn', () => shown.output.length > before);
  }
  shown.type('\r\r\rwhy\r\r');
  equal(await shown.exited, 0);
  match(shown.screen.text, /"one by one, as people type"/);
  ok(!shown.output.includes('Warning'), shown.output);
});

test('an answer that a check refuses is asked for again, with the sentence of the check', async () => {
  const shown = onTerminal(['run', 'spend.method', '--inputs', '{"most": 5}']);
  await shown.until('the prompt', (screen) => screen.cursorLine.trim() === '›');
  shown.type('6\r');
  await shown.shows('It is within the budget');
  await shown.until('the prompt again', (screen) => screen.cursorLine.trim() === '›');
  shown.type('5\r');
  equal(await shown.exited, 0);
  match(shown.screen.text, /"eur": 5/);
});

test('Ctrl-C at a question ends the command with 130', async () => {
  const shown = onTerminal(['run', 'asking.method']);
  await shown.until('the prompt', (screen) => screen.cursorLine.includes('›'));
  shown.type('\u0003');
  equal(await shown.exited, 130);
});

test('the end of input leaves the run waiting', async () => {
  const shown = onTerminal(['run', 'asking.method']);
  await shown.until('the prompt', (screen) => screen.cursorLine.includes('›'));
  shown.type('\u0004');
  equal(await shown.exited, 4);
  match(shown.screen.text, /methods answer run_/);
});
