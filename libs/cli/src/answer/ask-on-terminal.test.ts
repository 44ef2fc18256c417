import { equal, match } from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { CliFolder, METHODS, printed } from '../cli.fixture.ts';
import { readConfig } from '../config.ts';

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

const folder = await CliFolder.make({ 'asking.method': ASKING });
after(() => folder.remove());

const TERMINAL = 'script';
/** Only util-linux has `script -c`, which gives a command a terminal. */
const hasTerminals = spawnSync(TERMINAL, ['-qec', 'true', '/dev/null']).status === 0;

function onTerminal(command: string): ChildProcess {
  return spawn(TERMINAL, ['-qec', command, '/dev/null'], {
    cwd: folder.dir,
    env: { PATH: readConfig().path, HOME: folder.dir, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}

test('on a terminal a question is asked field by field until the answer fits', { skip: !hasTerminals }, async () => {
  const child = onTerminal(`${process.execPath} ${METHODS} run asking.method`);
  let screen = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    screen += chunk.toString();
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  await printed(child, '1 approve, 2 reject');
  child.stdin?.write('2\n');
  await printed(child, 'a whole number');
  child.stdin?.write('99\n');
  await printed(child, 'must be <= 10');
  child.stdin?.write('7\n');
  equal(await closed, 0);
  match(screen, /Go ahead\?/);
  match(screen, /"pieces": 7,\s+"decision": "reject"/);
});

test('Ctrl-C at a question ends the command with 130', { skip: !hasTerminals }, async () => {
  const child = onTerminal(`${process.execPath} ${METHODS} run asking.method`);
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  await printed(child, '1 approve, 2 reject');
  child.stdin?.write('\u0003');
  equal(await closed, 130);
});
