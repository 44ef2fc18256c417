import { type ChildProcess, spawn } from 'node:child_process';
import { test } from 'node:test';
import { until } from '../run-harness.ts';
import { lastChild, ProcessorWait } from './processor-wait.ts';

/** Computes without an end, on the first processor, as the child of a shell that waits for it. */
const SPIN = ['-c', 'taskset -c 0 "$0" -e "for (;;);"; true', process.execPath];

test('a process whose processor another uses too waits for it, and one that sleeps does not', async (t) => {
  const start = (args: readonly string[]) => spawn('bash', args, { stdio: 'ignore', detached: true });
  const children = [start(SPIN), start(SPIN), start(['-c', 'sleep 60; true'])];
  t.after(() => {
    for (const { pid } of children) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  });
  const [one, , sleeper] = children;
  const shareMeets = async (child: ChildProcess | undefined, met: (share: number) => boolean) => {
    const shell = child?.pid ?? 0;
    await until(() => lastChild(shell) !== shell);
    const wait = new ProcessorWait(lastChild(shell), performance.now());
    let looks = 0;
    await until(() => looks++ > 1 && met(wait.shareUntil(performance.now())));
  };
  await shareMeets(one, (share) => share > 0.25);
  await shareMeets(sleeper, (share) => share === 0);
});
