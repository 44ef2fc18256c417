// How many sends are under way, in all and to each host. The bound on bodies held in memory is this one.

export class SendSlots {
  private readonly byHost = new Map<string, number>();
  private taken = 0;

  constructor(
    readonly total: number,
    readonly perHost: number,
  ) {}

  get free(): number {
    return this.total - this.taken;
  }

  /** Sends under way by host; hosts without any are absent. */
  get busyHosts(): ReadonlyMap<string, number> {
    return this.byHost;
  }

  take(host: string): void {
    this.taken++;
    this.byHost.set(host, (this.byHost.get(host) ?? 0) + 1);
  }

  giveBack(host: string): void {
    this.taken--;
    const left = (this.byHost.get(host) ?? 1) - 1;
    if (left === 0) this.byHost.delete(host);
    else this.byHost.set(host, left);
  }
}
