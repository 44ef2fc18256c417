// Asks name servers for a name's addresses, with a deadline and without threads: the system's own resolver occupies one
// of four threads for as long as a name server is silent, so that a few silent names would delay all others.
import { Resolver } from 'node:dns/promises';
import type { Clock } from '@methods/base/clock';
import type { ResolvedAddress } from './host-resolver.ts';

export interface NameServersOptions {
  /** Addresses, with a port if it is not 53; empty: the system's. */
  readonly servers: readonly string[];
  readonly clock: Clock;
}

export interface NameAnswer {
  readonly addresses: readonly ResolvedAddress[];
  readonly ttlMs: number;
}

/** The second query to a server waits twice as long. */
const QUESTION_TIMEOUT_MS = 1_000;
const QUESTIONS_PER_SERVER = 2;
const DEADLINE_MS = 5_000;
/** The system's list of servers is read again after this. */
const SERVERS_FRESH_MS = 60_000;
/** A name without any address. */
const NO_ADDRESS = 'ENODATA';

export class NameServers {
  private current: { readonly resolver: Resolver; readonly untilMs: number } | null = null;

  constructor(private readonly options: NameServersOptions) {}

  /** Returns addresses of both families. Rejects with an error that has a `code`. */
  async ask(name: string): Promise<NameAnswer> {
    const resolver = this.resolver();
    const late = new Deadline(this.options.clock, DEADLINE_MS);
    try {
      const [ip4, ip6] = await Promise.allSettled([
        late.before(resolver.resolve4(name, { ttl: true })),
        late.before(resolver.resolve6(name, { ttl: true })),
      ]);
      const found = [...recordsOf(ip4, 4), ...recordsOf(ip6, 6)];
      if (found.length === 0) throw faultOf(ip4, ip6);
      return { addresses: found.map(({ address }) => address), ttlMs: Math.min(...found.map(({ ttlMs }) => ttlMs)) };
    } finally {
      late.cancel();
    }
  }

  private resolver(): Resolver {
    const { servers, clock } = this.options;
    const nowMs = clock.monotonicMs();
    if (this.current !== null && this.current.untilMs > nowMs) return this.current.resolver;
    const resolver = new Resolver({ timeout: QUESTION_TIMEOUT_MS, tries: QUESTIONS_PER_SERVER });
    if (servers.length > 0) resolver.setServers(servers);
    this.current = { resolver, untilMs: nowMs + SERVERS_FRESH_MS };
    return resolver;
  }
}

interface Found {
  readonly address: ResolvedAddress;
  readonly ttlMs: number;
}

type Answers = PromiseSettledResult<{ readonly address: string; readonly ttl: number }[]>;

function recordsOf(answers: Answers, family: 4 | 6): Found[] {
  if (answers.status === 'rejected') return [];
  return answers.value.map(({ address, ttl }) => ({ address: { address, family }, ttlMs: ttl * 1_000 }));
}

/** A silent name server explains more than a missing address of the other family. */
function faultOf(...answers: readonly Answers[]): Error {
  const faults = answers.flatMap((each) =>
    each.status === 'rejected' ? [each.reason as Error & { code?: string }] : [],
  );
  const [first] = [...faults.filter(({ code }) => code !== NO_ADDRESS), ...faults];
  return first ?? Object.assign(new Error('no address'), { code: NO_ADDRESS });
}

class Deadline {
  private fail: (reason: Error) => void = () => {};
  private readonly passed = new Promise<never>((_, reject) => {
    this.fail = reject;
  });
  private readonly timer;

  constructor(clock: Clock, ms: number) {
    this.passed.catch(() => {});
    this.timer = clock.after(ms, () => this.fail(Object.assign(new Error('no answer'), { code: 'ETIMEOUT' })));
  }

  before<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.passed]);
  }

  cancel(): void {
    this.timer.cancel();
  }
}
