import { deepEqual, equal } from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { LiveFoot } from './live-foot.ts';
import { Output } from './output.ts';
import { Screen } from './screen.fixture.ts';

class Terminal extends EventEmitter {
  readonly isTTY = true;
  readonly rows = 10;
  readonly screen: Screen;

  constructor(public columns: number) {
    super();
    this.screen = new Screen(columns, this.rows);
  }

  write(text: string): void {
    // The driver of a terminal turns a line feed into a new line.
    this.screen.write(text.replace(/\r?\n/g, '\r\n'));
  }

  resize(columns: number): void {
    this.columns = columns;
    this.screen.resize(columns);
    this.emit('resize');
  }
}

function footOn(terminal: Terminal, lines: () => readonly string[]): { foot: LiveFoot; output: Output } {
  const output = new Output({
    stdout: terminal as unknown as NodeJS.WriteStream,
    stderr: process.stderr,
    stdin: process.stdin,
    json: false,
    quiet: false,
    color: true,
  });
  return { foot: new LiveFoot(output, lines), output };
}

test('lines printed above stay, and the foot is once below them', () => {
  const terminal = new Terminal(20);
  const { foot, output } = footOn(terminal, () => ['now', 'and then']);
  foot.start();
  for (const line of ['one', 'two']) foot.above(() => output.line(line));
  deepEqual(terminal.screen.lines, ['one', 'two', 'now', 'and then']);
  equal(terminal.screen.cursorVisible, false);
  foot.rest();
  deepEqual(terminal.screen.lines, ['one', 'two']);
  equal(terminal.screen.cursorVisible, true);
});

test('a terminal made narrower or wider in the middle shows no remains of the foot', () => {
  const terminal = new Terminal(40);
  const { foot, output } = footOn(terminal, () => ['進捗'.repeat(30), 'x'.repeat(100)]);
  foot.start();
  foot.above(() => output.line('kept'));
  for (const columns of [17, 9, 33, 80]) {
    terminal.resize(columns);
    const lines = terminal.screen.lines;
    deepEqual([lines.length, lines[0]], [3, 'kept'], terminal.screen.text);
    equal(lines[2], 'x'.repeat(Math.min(100, columns - 1)));
  }
  foot.rest();
  deepEqual(terminal.screen.lines, ['kept']);
});

test('a foot higher than the terminal is cut', () => {
  const terminal = new Terminal(20);
  const { foot, output } = footOn(terminal, () => Array.from({ length: 30 }, (_, index) => `line ${index}`));
  foot.start();
  foot.above(() => output.line('kept'));
  equal(terminal.screen.lines.length, 10);
  foot.rest();
  deepEqual(terminal.screen.lines, ['kept']);
});
