// Owns which fields and items the schemas at one place have looked at: what `unevaluatedProperties` and
// `unevaluatedItems` skip.

export class Evaluated {
  /** Items before this index. */
  itemsBefore = 0;
  readonly items = new Set<number>();
  readonly fields = new Set<string>();

  add(other: Evaluated): void {
    this.itemsBefore = Math.max(this.itemsBefore, other.itemsBefore);
    for (const index of other.items) this.items.add(index);
    for (const name of other.fields) this.fields.add(name);
  }
}
