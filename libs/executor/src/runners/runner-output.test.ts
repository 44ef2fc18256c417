import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { RunnerOutput } from './runner-output.ts';

const MARK = Buffer.from('\0token\n');

describe('the output of a runner', () => {
  it('belongs to a marked step whose prints are read before the end of an unmarked one', () => {
    const happened: string[] = [];
    const output = new RunnerOutput('token', systemClock, {
      onLine: (line) => happened.push(line),
      onPrint: (source, chunk) => happened.push(`${source}: ${chunk}`),
      onOverflow: () => happened.push('overflow'),
      onLost: () => happened.push('lost'),
    });
    output.begin(true);
    output.print('stdout', MARK);
    output.print('stderr', MARK);
    output.end(true, () => happened.push('the first is over'));
    output.idle();

    output.begin(false);
    output.print('stdout', Buffer.from('from the marked one'));
    output.print('stdout', MARK);
    output.print('stderr', MARK);
    output.end(false, () => happened.push('the unmarked one is over'));
    output.begin(true);
    output.end(true, () => happened.push('the marked one is over'));

    deepEqual(happened, [
      'the first is over',
      'the unmarked one is over',
      'stdout: from the marked one',
      'the marked one is over',
    ]);
  });
});
