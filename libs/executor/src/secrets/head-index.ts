// Looks up the forms that begin with some units. Almost always there is none, which costs one look at 16 KiB.
import type { Form } from './secret-forms.ts';

const SLOT_BITS = 14;

export class HeadIndex {
  /** One for each hash that a key of some form has. */
  private readonly slots = new Uint8Array(1 << SLOT_BITS);
  private readonly forms = new Map<number, Form[]>();

  add(key: number, form: Form): void {
    this.slots[hashOf(key)] = 1;
    const same = this.forms.get(key);
    if (same === undefined) this.forms.set(key, [form]);
    else same.push(form);
  }

  has(key: number): boolean {
    return this.slots[hashOf(key)] === 1;
  }

  get(key: number): readonly Form[] {
    return this.forms.get(key) ?? [];
  }
}

function hashOf(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> (32 - SLOT_BITS);
}
