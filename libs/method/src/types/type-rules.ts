// Owns the rules that need whole types: unions with at most one object and one list, and defaults that fit.
import type { JsonValue } from '../json.ts';
import type { Findings } from '../source/findings.ts';
import type { Range } from '../source/source-text.ts';
import { fits, shapeOf } from './fits.ts';
import { type Field, membersOf, shortType, type Type } from './type.ts';

const MEMBERS_MAX = 50;

/** Rules are queued while names may still be open (`settle` runs them once every name has its definition). */
export class TypeRules {
  readonly #findings: Findings;
  #waiting: (() => void)[] = [];

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  settle(): void {
    const rules = this.#waiting;
    this.#waiting = [];
    for (const rule of rules) rule();
  }

  /** M306 for the type and everything inside it. */
  checkUnion(type: Type, path: string, range: Range): void {
    this.#waiting.push(() => this.#unions(type, path, range));
  }

  /**
   * The field with its default. A value that does not fit is tried once more as the author's raw text, so that
   * `string = 7` and `date = 2026-01-31` need no quotes.
   */
  withDefault(field: Field, value: JsonValue, raw: string | undefined, path: string, range: Range): Field {
    const { type } = field;
    // Which reading fits is only known once names are settled; texts are the one case where two readings exist.
    const text = raw !== undefined && typeof value !== 'string' && fits(raw, type) && !fits(value, type) ? raw : value;
    this.#waiting.push(() => {
      if (fits(text, type)) return;
      this.#findings.add('M311', `the default does not fit ${shortType(type)}`, path, range, {
        hint:
          raw !== undefined && /^[[{]/.test(raw) && typeof value === 'string'
            ? 'write it as JSON, such as  ["a", "b"]  or  {"a": 1}'
            : 'a default is written whole, with all its fields',
      });
    });
    return { ...field, optional: false, default: text };
  }

  #unions(type: Type, path: string, range: Range): void {
    if (type.kind === 'list' || type.kind === 'map') this.#unions(type.of, path, range);
    if (type.kind === 'object') {
      for (const field of type.fields.values()) this.#unions(field.type, path, range);
      return;
    }
    if (type.kind !== 'union') return;
    const members = membersOf(type);
    const shapes = members.map(shapeOf);
    const objects = shapes.filter((shape) => shape === 'object').length;
    const lists = shapes.filter((shape) => shape === 'list').length;
    if (objects > 1 || lists > 1) {
      this.#findings.add('M306', 'a union holds at most one object type and one list type', path, range, {
        hint: 'use one object with optional fields',
      });
    } else if (members.length > MEMBERS_MAX) {
      this.#findings.add('M306', `a union has at most ${MEMBERS_MAX} members`, path, range);
    }
    for (const member of type.of) this.#unions(member, path, range);
  }
}
