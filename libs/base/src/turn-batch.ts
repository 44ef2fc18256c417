// Collects the items of one turn of the event loop and passes them on at its end, so that many small messages cost one.
// It never waits: a single item leaves in the same turn.

export class TurnBatch<Item> {
  private items: Item[] = [];
  private scheduled = false;

  /** `flush` gets at most `itemsMax` items in a call. */
  constructor(
    private readonly flush: (items: Item[]) => void,
    private readonly itemsMax = 256,
  ) {}

  add(item: Item): void {
    this.items.push(item);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.flushNow());
  }

  private flushNow(): void {
    this.scheduled = false;
    const items = this.items;
    this.items = [];
    for (let from = 0; from < items.length; from += this.itemsMax) this.flush(items.slice(from, from + this.itemsMax));
  }
}
