import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Output } from './output.ts';

function outputTo({ isTTY, ...size }: { readonly isTTY: boolean; readonly columns?: number; readonly rows?: number }) {
  const said = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof said) => {
    const write = (text: string) => {
      said[name] += text;
    };
    return { isTTY, write, ...size } as unknown as NodeJS.WriteStream;
  };
  const options = { stdin: process.stdin, stdout: stream('stdout'), stderr: stream('stderr'), color: true };
  return { said, output: new Output({ ...options, json: false, quiet: false }) };
}

const HOSTILE = 'id\u001b]0;title\u0007\u001b[2J\u009b2J\rgone\u0008';

test('foreign text does not act on a terminal, and our colours and lines stay', () => {
  const { output, said } = outputTo({ isTTY: true });
  output.line(`${output.paint('red', 'red')}\ttab\r\n${HOSTILE}`);
  output.note(HOSTILE);
  output.error({ code: 'x', message: HOSTILE, hint: HOSTILE });
  assert.ok(said.stdout.startsWith('\u001b[31mred\u001b[39m\ttab\r\nid\ufffd'), JSON.stringify(said.stdout));
  for (const text of [said.stdout, said.stderr]) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
    assert.doesNotMatch(text.replace(/\u001b\[\d+m|\r\n/g, ''), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  }
});

test('a program gets what a command prints byte by byte', () => {
  const { output, said } = outputTo({ isTTY: false });
  output.result(HOSTILE);
  assert.equal(said.stdout, `${HOSTILE}\n`);
});

test('a terminal without a size has the usual one', () => {
  for (const size of [{}, { columns: 0, rows: 0 }]) {
    const { output } = outputTo({ isTTY: true, ...size });
    assert.deepEqual([output.columns, output.rows], [80, 24]);
  }
});
