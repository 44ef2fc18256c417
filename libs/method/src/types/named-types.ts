// Owns the shared types of a method (`types:`) and the rule that none contains itself.
import type { Findings } from '../source/findings.ts';
import type { SourceMap } from '../source/source-node.ts';
import { ANY, type Type } from './type.ts';

export class NamedTypes {
  readonly all = new Map<string, { type: Type }>();
  readonly #findings: Findings;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Makes the name known before any definition is read, so that order does not matter. */
  declare(name: string): void {
    this.all.set(name, { type: ANY });
  }

  /** Reports types that contain themselves and turns them into `any`: everything after may follow names without end. */
  cutCycles(node: SourceMap): void {
    const references = new Map<string, Set<string>>();
    for (const [name, definition] of this.all) references.set(name, namesIn(definition.type, new Set()));
    const finished = new Set<string>();
    const cyclic = new Set<string>();
    const visit = (name: string, open: readonly string[]): void => {
      if (open.includes(name)) {
        for (const member of open.slice(open.indexOf(name))) cyclic.add(member);
        return;
      }
      if (finished.has(name)) return;
      for (const other of references.get(name) ?? []) visit(other, [...open, name]);
      finished.add(name);
    };
    for (const name of this.all.keys()) visit(name, []);
    for (const name of cyclic) {
      const entry = node.entries.get(name);
      const definition = this.all.get(name);
      if (!entry || !definition) continue;
      definition.type = ANY;
      this.#findings.add('M312', `type "${name}" contains itself`, `types.${name}`, entry.keyRange, {
        hint: 'use any for the inner part',
      });
    }
  }
}

function namesIn(type: Type, names: Set<string>): Set<string> {
  switch (type.kind) {
    case 'named':
      names.add(type.name);
      break;
    case 'list':
    case 'map':
      namesIn(type.of, names);
      break;
    case 'union':
      for (const member of type.of) namesIn(member, names);
      break;
    case 'object':
      for (const field of type.fields.values()) namesIn(field.type, names);
      break;
    default:
      break;
  }
  return names;
}
