import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import { ChildGroup } from './child-group.ts';

test('keeps a line of a process that ends before its sandbox is known', async () => {
  const lines: string[] = [];
  // The sleeping process holds the descriptor of the sandbox's facts until the group ends.
  const script = 'printf "first\\nsecond\\n" >&3; sleep 60 3>&- > /dev/null 2>&1 & exit 0';
  const env = { PATH: '/usr/bin:/bin' };
  await new Promise<void>((resolve) => {
    new ChildGroup({ command: '/bin/bash', args: ['-c', script], cwd: '/', env, sandboxed: true }, systemClock, {
      onLine: (line) => void lines.push(line),
      onOverflow: () => assert.fail('two lines are no overflow'),
      onPrint: () => {},
      onGone: () => resolve(),
    });
  });
  assert.deepEqual(lines, ['first', 'second']);
});
