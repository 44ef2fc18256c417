// One transaction of a pool on its way: it waits at the gate for a connection, and can be given up before and after.
import { abandon, abandonable } from './abandon.ts';
import { DatabaseDeadlineError } from './database-deadline-error.ts';
import type { QueryWay } from './gated-query.ts';
import { type Begin, safeBegin } from './transaction.ts';

/** With the arguments of `sql.begin`, and its outcome; `begin` is that of the pool which is current when it begins. */
export function gatedTransaction(
  { gate, stuck }: Pick<QueryWay, 'gate' | 'stuck'>,
  begin: () => Begin,
  args: unknown[],
): Promise<unknown> {
  let running: Promise<unknown> | null = null;
  let giveUp = () => {};
  const outcome = new Promise<unknown>((resolve, reject) => {
    const withdraw = gate.enter(() => {
      running = safeBegin(begin(), args, stuck);
      running.then(resolve, reject).finally(() => gate.leave());
    }, reject);
    giveUp = () => {
      if (running !== null) abandon(running);
      else if (withdraw()) reject(new DatabaseDeadlineError('the transaction was withdrawn'));
    };
  });
  return abandonable(outcome, () => giveUp());
}
