// Asks again for replies that events made old: at most once in the query's time, and while the page is hidden only when
// it is shown again.
import type { Query, QueryClient } from '@tanstack/react-query';
import type { EventName } from './live-events.tsx';

const EVERY_MS = 1_000;
const LASTING_MS = 120_000;

export class Refresher {
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly askedMs = new Map<string, number>();
  private readonly whenShown = new Set<string>();
  private readonly onShown = () => {
    if (document.hidden) return;
    for (const hash of this.whenShown) this.ask(hash);
    this.whenShown.clear();
  };

  constructor(
    private readonly client: QueryClient,
    private readonly org: string,
  ) {
    document.addEventListener('visibilitychange', this.onShown);
  }

  because(name: EventName): void {
    for (const query of this.client.getQueryCache().findAll({ queryKey: [this.org] })) {
      if (query.meta?.staleOn?.includes(name)) this.soon(query);
    }
  }

  /**
   * The events have begun: replies that events make old may have missed some since they were loaded. Those that may be
   * old for minutes by themselves are left.
   */
  loadedBefore(): void {
    for (const query of this.client.getQueryCache().findAll({ queryKey: [this.org] })) {
      const { meta, queryHash, state } = query;
      if (meta?.staleOn !== undefined && state.data !== undefined && lastsMs(query) < LASTING_MS) this.ask(queryHash);
    }
  }

  /** Events may be missing: every reply may be old. */
  everything(): void {
    void this.client.invalidateQueries({ queryKey: [this.org] });
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.onShown);
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  private soon({ queryHash, meta }: Query): void {
    if (this.timers.has(queryHash)) return;
    const waitedMs = Date.now() - (this.askedMs.get(queryHash) ?? 0);
    const waitMs = Math.max(0, (meta?.everyMs ?? EVERY_MS) - waitedMs);
    const timer = setTimeout(() => {
      this.timers.delete(queryHash);
      if (document.hidden) this.whenShown.add(queryHash);
      else this.ask(queryHash);
    }, waitMs);
    this.timers.set(queryHash, timer);
  }

  private ask(hash: string): void {
    this.askedMs.set(hash, Date.now());
    void this.client.invalidateQueries({ predicate: ({ queryHash }) => queryHash === hash });
  }
}

function lastsMs({ options }: Query): number {
  const { staleTime } = options as { readonly staleTime?: unknown };
  return typeof staleTime === 'number' ? staleTime : 0;
}
