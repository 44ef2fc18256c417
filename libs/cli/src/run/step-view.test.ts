import { equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Output } from '../terminal/output.ts';
import { StepView } from './step-view.ts';

/** A terminal of 40 columns, and all that was written to it. */
function terminal(): { view: StepView; written: string[] } {
  const written: string[] = [];
  const nothing = () => {};
  const stdout = { isTTY: true, columns: 40, write: (text: string) => written.push(text), on: nothing, off: nothing };
  const output = new Output({
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: process.stderr,
    stdin: process.stdin,
    json: false,
    quiet: false,
    color: true,
  });
  return { view: new StepView(output), written };
}

test('the line at the foot shows the progress of a step, and no log line does', () => {
  const { view, written } = terminal();
  view.stepStarted('share', 'node');
  view.logged('share', 'progress 50 % half\n', 'progress');
  view.told('share', { t: 'progress', at: 0.5, message: 'ha\u001b[31mlf\nway' });
  view.note('the line is drawn again after this one');
  view.rest();
  match(written.join(''), /share 50 % half way/);
  ok(!written.some((text) => text.includes('progress')));
});

test('the line at the foot never wraps, with any progress text', () => {
  const { view, written } = terminal();
  view.stepStarted('share', 'node');
  view.told('share', { t: 'progress', at: 0.5, message: '進捗'.repeat(50) });
  view.note('the line is drawn again after this one');
  view.rest();
  const foot = written.findLast((text) => text.includes('進')) ?? '';
  const wide = [...foot].filter((character) => '進捗'.includes(character)).length;
  ok(wide > 5);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences take no cells
  const shown = foot.replace(/\u001b\[\??[0-9]*[a-zA-Z]|\r/g, '');
  ok(shown.length + wide <= 39, foot);
});

test('lines of stdout and stderr that arrive in pieces stay apart', () => {
  const { view, written } = terminal();
  view.stepStarted('share', 'node');
  view.logged('share', 'out', 'stdout');
  view.logged('share', 'err', 'stderr');
  view.logged('share', 'put\n', 'stdout');
  view.logged('share', 'or\n', 'stderr');
  view.rest();
  equal(written.filter((text) => /│ (output|error)/.test(text)).length, 2, written.join());
});
