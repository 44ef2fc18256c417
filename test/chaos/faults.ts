// Faults at random: any process or server of a cluster is killed, stopped and started again, frozen, or loses its data.
import type { Cluster } from '../cluster/cluster.ts';
import type { Random } from './random.ts';

export type FaultKind = 'kill' | 'restart' | 'freeze' | 'wipe';

/** Two leases: what is frozen longer than one comes back as a zombie. */
const FREEZE_MS = { least: 300, most: 12_000 };
const BETWEEN_MS = { least: 500, most: 4_000 };
/** Faults under way at a time. */
const AT_ONCE = 2;

export interface FaultReport {
  readonly count: number;
  readonly byKind: Readonly<Record<FaultKind, number>>;
  /** Kills and stops of each process, by its name. */
  readonly ended: ReadonlyMap<string, number>;
}

export class Faults {
  private readonly ended = new Map<string, number>();
  private readonly byKind: Record<FaultKind, number> = { kill: 0, restart: 0, freeze: 0, wipe: 0 };
  private failure: unknown = null;
  private readonly struck = new Map<string, Promise<void>>();

  constructor(
    private readonly cluster: Cluster,
    private readonly random: Random,
    private readonly say: (line: string) => void,
  ) {}

  /** Injects faults for this long, then waits until every frozen or killed process runs again. */
  async strikeFor(ms: number): Promise<FaultReport> {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs) {
      if (this.struck.size < AT_ONCE) this.strikeOnce();
      await pause(this.random.whole(BETWEEN_MS.least, BETWEEN_MS.most));
    }
    await Promise.all(this.struck.values());
    if (this.failure !== null) throw this.failure;
    const count = Object.values(this.byKind).reduce((sum, n) => sum + n, 0);
    return { count, byKind: this.byKind, ended: this.ended };
  }

  private strikeOnce(): void {
    const free = this.cluster.names().filter((name) => !this.struck.has(name));
    const name = this.random.pick(free);
    const canLoseData = name === 'nats' || name.startsWith('worker');
    const kind = this.random.pick<FaultKind>(['kill', 'restart', 'freeze', ...(canLoseData ? ['wipe' as const] : [])]);
    const forMs = this.random.whole(FREEZE_MS.least, FREEZE_MS.most);
    this.say(kind === 'freeze' ? `freeze ${name} for ${forMs} ms` : `${kind} ${name}`);
    this.byKind[kind]++;
    if (kind !== 'freeze') this.ended.set(name, (this.ended.get(name) ?? 0) + 1);
    const over = this.strike(kind, name, forMs)
      .catch((error: unknown) => {
        this.failure = error;
      })
      .finally(() => this.struck.delete(name));
    this.struck.set(name, over);
  }

  private async strike(kind: FaultKind, name: string, forMs: number): Promise<void> {
    switch (kind) {
      case 'kill':
        return this.cluster.kill(name);
      case 'restart':
        // Postgres waits for its clients after SIGTERM, and breaks off their sessions after SIGINT.
        return this.cluster.kill(name, name === 'postgres' ? 'SIGINT' : 'SIGTERM');
      case 'wipe':
        return name === 'nats' ? this.cluster.wipeNats() : this.cluster.wipeWorker(name);
      case 'freeze': {
        const thaw = this.cluster.freezeTree(name);
        await pause(forMs);
        thaw();
      }
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
