// Writes many items in one statement. A value that Postgres refuses is found by halving, so that only its item fails,
// and not its whole batch repeatedly.
import { sqlState } from '@methods/postgres/database-fault';

/** Values, constraints and limits: the same statement would fail again. */
const REFUSED = /^(22|23|54)/;

/** Rejects with any other fault; some items may have been written by then. */
export async function writeApart<Item>(
  items: readonly Item[],
  write: (items: readonly Item[]) => Promise<unknown>,
  onRefused: (item: Item, code: string) => void | Promise<void>,
): Promise<void> {
  try {
    await write(items);
  } catch (error) {
    const code = sqlState(error) ?? '';
    const [first] = items;
    if (!REFUSED.test(code) || first === undefined) throw error;
    if (items.length === 1) return await onRefused(first, code);
    const half = Math.ceil(items.length / 2);
    await writeApart(items.slice(0, half), write, onRefused);
    await writeApart(items.slice(half), write, onRefused);
  }
}
