// Finds every form of every secret in a text, in time that grows with the text and hardly with the secrets: it scans
// each layer of the text once, looks up the last few units among the beginnings of all forms, and compares only where
// one is found.
import { FAILED, formEnd, OPEN, reached } from './form-match.ts';
import { HeadIndex, type Heads, scanHeads } from './head-scan.ts';
import { windowsOf } from './layer-windows.ts';
import { type Form, formsOf } from './secret-forms.ts';
import { layersOf, placeOf, type TextLayer } from './text-layers.ts';

export interface Finding {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface Findings {
  /** By their beginnings, the longest of each first. They may overlap. */
  readonly found: readonly Finding[];
  /** Where a form begins that the text's end cuts off; the text's length: none does. */
  readonly openAt: number;
  /** From here on the text may be the first few units of a form. */
  readonly headAt: number;
}

/**
 * Comparisons that fail late cost more than the scan itself: a secret of 64 KiB of `a` in a text of `a`. After this
 * many units for each character, as many units of a secret as below count for the whole.
 */
const EFFORT_PER_CHARACTER = 8;
const EFFORT_MIN = 65_536;
const PART_UNITS_MIN = 256;

export class SecretFinder {
  private readonly heads: Heads = {
    characters: new HeadIndex('characters'),
    digits: new HeadIndex('digits'),
    hex: new HeadIndex('hex'),
    numbers: new HeadIndex('numbers'),
  };

  /** Name to value. */
  constructor(secrets: ReadonlyMap<string, string>) {
    for (const [name, value] of secrets) this.add(name, value);
  }

  add(name: string, value: string): void {
    for (const form of formsOf(name, value)) this.heads[form.kind].add(form);
  }

  /** `final`: no more text follows. */
  find(text: string, final: boolean): Findings {
    const layers = layersOf(text, final);
    const pass = new Pass(layers, text.length, final);
    for (const depth of layers.keys()) pass.over(depth, this.heads);
    pass.found.sort((a, b) => a.start - b.start || b.end - a.end);
    return pass;
  }
}

class Pass implements Findings {
  readonly found: Finding[] = [];
  openAt: number;
  headAt: number;
  private effort: number;
  /** The places in the layers from the one that is passed over upwards. */
  private lookouts: Lookout[] = [];

  constructor(
    private readonly layers: readonly TextLayer[],
    length: number,
    private readonly final: boolean,
  ) {
    this.openAt = length;
    this.headAt = length;
    this.effort = EFFORT_MIN + EFFORT_PER_CHARACTER * length;
  }

  /**
   * The beginnings of forms in one layer. A form that begins in an upper layer as in the one below is found below, and
   * compared in both.
   */
  over(depth: number, heads: Heads): void {
    const layer = this.layers[depth] as TextLayer;
    const { codes, openAt } = layer;
    this.lookouts = this.layers.slice(depth).map((upper) => new Lookout(upper));
    if (openAt >= 0) this.headAt = Math.min(this.headAt, openAt);
    let head = codes.length;
    const scan = (from: number, to: number) => {
      head = scanHeads(codes, from, to, heads, this.begins);
    };
    if (depth === 0) scan(0, codes.length);
    else windowsOf(layer, scan);
    this.headAt = Math.min(this.headAt, placeOf(layer, head));
  }

  private readonly begins = (forms: readonly Form[], start: number): void => {
    let place = start;
    for (const [i, lookout] of this.lookouts.entries()) {
      if (i > 0) place = lookout.placeAbove(place);
      if (place < 0) return;
      for (const form of forms) if (lookout.isNew(form, place)) this.compare(form, lookout, place);
    }
  };

  private compare(form: Form, lookout: Lookout, start: number): void {
    const { layer } = lookout;
    const { steps } = reached;
    let end = formEnd(form, layer.codes, start, this.final);
    this.effort -= reached.steps - steps;
    if (end === OPEN && !this.final) {
      this.openAt = Math.min(this.openAt, placeOf(layer, start));
      lookout.compared(form, layer.codes.length);
      return;
    }
    if (end === OPEN || end === FAILED) {
      if (this.effort > 0 || reached.units < PART_UNITS_MIN) return;
      end = reached.index;
    }
    lookout.compared(form, end);
    this.found.push({ name: form.name, start: placeOf(layer, start), end: placeOf(layer, end) });
  }
}

/** A layer in which forms are compared from places in almost ascending order. */
class Lookout {
  /** Up to where a form was compared: the same one is not searched for within itself. */
  private readonly ends = new Map<Form, number>();
  /** Of the pairs in `layer.ends`, how many are before the last place. */
  private passed = 0;

  constructor(readonly layer: TextLayer) {}

  isNew(form: Form, start: number): boolean {
    return (this.ends.get(form) ?? 0) <= start;
  }

  compared(form: Form, end: number): void {
    this.ends.set(form, end);
  }

  /** Returns the place here of one in the layer below; -1: it is within an escape, or after the text that was read. */
  placeAbove(below: number): number {
    const { ends, codes } = this.layer;
    let { passed } = this;
    while (2 * passed < ends.length && (ends[2 * passed + 1] as number) <= below) passed++;
    while (passed > 0 && (ends[2 * passed - 1] as number) > below) passed--;
    this.passed = passed;
    const shift = passed === 0 ? 0 : (ends[2 * passed - 2] as number) - (ends[2 * passed - 1] as number);
    const place = below + shift;
    const isWithin = 2 * passed < ends.length && place >= (ends[2 * passed] as number);
    return isWithin || place >= codes.length ? -1 : place;
  }
}
