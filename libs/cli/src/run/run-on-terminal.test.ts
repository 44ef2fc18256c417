import { equal, ok } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { CliFolder, METHODS } from '../cli.fixture.ts';
import { readConfig } from '../config.ts';
import { TerminalProcess } from '../terminal/terminal-process.fixture.ts';

let open: () => void = () => {};
const opened = new Promise<void>((resolve) => {
  open = resolve;
});
const server = createServer((_request, response) => {
  void opened.then(() => response.setHeader('content-type', 'application/json').end('{"ok": true}'));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const folder = await CliFolder.make({
  'live.method': `format: method/2
name: live
steps:
  - name: tell
    node: |
      console.log('進捗'.repeat(60))
      return { ok: true }
    out: { ok: boolean }
  - name: a_step_with_a_name_that_is_longer_than_a_narrow_terminal
    http: { get: "http://127.0.0.1:${(server.address() as AddressInfo).port}/" }
    out: { ok: boolean }
result: { ok: =steps.tell.ok }
`,
});
after(async () => {
  server.close();
  await folder.remove();
});

test('a live run leaves no remains of its foot, even if the terminal is resized', async () => {
  const env = { PATH: readConfig().path, HOME: folder.dir };
  const terminal = new TerminalProcess(process.execPath, [METHODS, 'run', 'live.method'], { cwd: folder.dir, env });
  try {
    const isFoot = (line: string) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] .*a_step/.test(line);
    await terminal.until('the foot', ({ lines }) => lines.some(isFoot));
    for (const columns of [30, 80]) {
      terminal.resize(columns);
      const before = terminal.output.length;
      await terminal.until('it is drawn again', () => terminal.output.slice(before).split('\u001b[J').length > 3);
      // Output may arrive in two pieces; remains would stay.
      await terminal.until('it is there once', ({ lines }) => {
        const feet = lines.filter((line) => line.includes('a_step') || line.includes('terminal'));
        return feet.length === 1 && feet.every(isFoot) && (feet[0]?.length ?? 0) < columns;
      });
    }
    open();
    equal(await terminal.exited, 0);
    const { lines, cursorVisible } = terminal.screen;
    ok(cursorVisible && !lines.some(isFoot), terminal.screen.text);
    equal(lines.filter((line) => line.includes('a_step')).length, 1, terminal.screen.text);
    // Wide characters that wrapped are all there.
    equal([...terminal.screen.text].filter((character) => character === '進').length, 60);
  } finally {
    terminal.stop();
  }
});

test('without a terminal a run is shown in plain lines', async () => {
  open();
  const { code, stdout } = await folder.methods(['run', 'live.method']);
  equal(code, 0);
  ok(stdout.includes('succeeded tell') && !stdout.includes('\u001b'), stdout);
});
