// A pool that is made anew when one of its connections is lost. postgres.js 3.4 uses the same connection object again
// and leaves it dirty: half-written bytes that make every later connect time out, or the old session's error given to
// the next query (issues 1215 and 1142 of porsager/postgres). So a pool that lost a connection takes no more queries;
// what runs on its other connections ends there, and what waits for one fails at once.
import type { Sql } from './sql.ts';
import { safeBegin } from './transaction.ts';

/** How long a replaced pool's other connections may go on. */
const OLD_POOL_ENDS_WITHIN_S = 10;

export interface PoolLease {
  /** To be called when the pool lost a connection. */
  readonly onLost: () => void;
  /** It has been replaced and must open no more connections. */
  readonly replaced: () => boolean;
}

/** `open` makes one pool. */
export function renewingPool(open: (lease: PoolLease) => Sql): Sql {
  let ended = false;
  const endings = new Set<Promise<void>>();
  let current = openNext();

  function openNext(): Sql {
    const replaced = () => pool !== current;
    const onLost = () => {
      if (ended || replaced()) return;
      current = openNext();
      const ending = pool.end({ timeout: OLD_POOL_ENDS_WITHIN_S }).finally(() => endings.delete(ending));
      endings.add(ending);
    };
    const pool = open({ onLost, replaced });
    return pool;
  }

  async function end(options?: { timeout?: number }): Promise<void> {
    ended = true;
    await Promise.all([current.end(options), ...[...endings].map((ending) => within(ending, options?.timeout))]);
  }

  // The methods of a pool are closures: they need no `this`.
  return new Proxy(current, {
    apply: (_first, self, args) => Reflect.apply(current, self, args),
    get(_first, property) {
      if (property === 'end') return end;
      if (property === 'begin') return (...args: unknown[]) => safeBegin(current.begin as never, args);
      if (property === 'reserve' || property === 'listen') return () => Promise.reject(notSafe(property));
      return Reflect.get(current, property);
    },
  });
}

function notSafe(property: string): TypeError {
  return new TypeError(`sql.${property} is not available: it does not survive the loss of its connection`);
}

async function within(ending: Promise<void>, timeoutS: number | undefined): Promise<void> {
  if (timeoutS === undefined) return ending;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutS * 1000);
  });
  await Promise.race([ending, late]);
  clearTimeout(timer);
}
