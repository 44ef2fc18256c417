// An ordered heap of times, so that a node needs one timer for all of them.

export interface HeapEntry<Item> {
  readonly atMs: number;
  readonly item: Item;
}

export class TimerHeap<Item> {
  private readonly heap: HeapEntry<Item>[] = [];

  get size(): number {
    return this.heap.length;
  }

  get nextAtMs(): number | null {
    return this.heap[0]?.atMs ?? null;
  }

  push(atMs: number, item: Item): void {
    this.heap.push({ atMs, item });
    let child = this.heap.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (this.at(parent).atMs <= this.at(child).atMs) return;
      this.swap(parent, child);
      child = parent;
    }
  }

  /** Removes up to `max` items that are due at `nowMs`, in order. */
  popDue(nowMs: number, itemsMax: number): Item[] {
    const due: Item[] = [];
    while (this.heap.length > 0 && due.length < itemsMax && this.at(0).atMs <= nowMs) {
      due.push(this.at(0).item);
      const last = this.heap.pop();
      if (last !== undefined && this.heap.length > 0) {
        this.heap[0] = last;
        this.sink();
      }
    }
    return due;
  }

  clear(): void {
    this.heap.length = 0;
  }

  private sink(): void {
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      if (left >= this.heap.length) return;
      const right = left + 1;
      const child = right < this.heap.length && this.at(right).atMs < this.at(left).atMs ? right : left;
      if (this.at(parent).atMs <= this.at(child).atMs) return;
      this.swap(parent, child);
      parent = child;
    }
  }

  private at(index: number): HeapEntry<Item> {
    return this.heap[index] as HeapEntry<Item>;
  }

  private swap(a: number, b: number): void {
    const held = this.at(a);
    this.heap[a] = this.at(b);
    this.heap[b] = held;
  }
}
