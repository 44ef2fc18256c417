import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { after, before, test } from 'node:test';
import { CliFolder, METHODS } from '../cli.fixture.ts';
import { readConfig } from '../config.ts';
import { TerminalProcess } from './terminal-process.fixture.ts';

const ASK = `format: method/2
name: ask-it
steps:
  - name: approve
    ask: Is it good?
    out:
      note: string
      good: boolean
`;
const WAIT = `format: method/2
name: wait-long
steps:
  - name: pause
    wait: 1h
`;

let folder: CliFolder;
before(async () => {
  folder = await CliFolder.make({ 'ask.method': ASK, 'wait.method': WAIT });
});
after(() => folder.remove());

async function onTerminal(args: readonly string[], use: (terminal: TerminalProcess) => Promise<void>): Promise<void> {
  const env = { PATH: readConfig().path, HOME: folder.dir };
  const terminal = new TerminalProcess(process.execPath, [METHODS, ...args], { cwd: folder.dir, env });
  try {
    await use(terminal);
  } finally {
    terminal.stop();
  }
}

for (const [file, shown] of [
  ['ask.method', 'note (text)'],
  ['wait.method', 's pause'],
] as const) {
  test(`a run of ${file} ends with the window it was shown in, in order`, () =>
    onTerminal(['run', file], async (terminal) => {
      await terminal.shows(shown);
      terminal.vanish();
      // It must neither crash nor run forever.
      assert.equal(await terminal.signalled, constants.signals.SIGHUP);
      const [runId = ''] = (await folder.runs()).slice(-1);
      assert.match(await folder.read(`.methods/runs/${runId}/run.json`), /"status": ?"(running|waiting)"/);
    }));
}

test('a question at the end of input is not awaited', () =>
  onTerminal(['new', 'greet'], async (terminal) => {
    await terminal.shows('(1)');
    terminal.type('\u0004');
    assert.equal(await terminal.exited, 2);
    assert.match(terminal.screen.text, /error: no kind was chosen/);
  }));
