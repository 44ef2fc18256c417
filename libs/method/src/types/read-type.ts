// Owns types as written in the source: the compact notation, choices, mappings and the long form with `$type`.

import { hintNearest } from '../source/did-you-mean.ts';
import type { Findings } from '../source/findings.ts';
import { isFieldName, TYPE_NAME } from '../source/names.ts';
import {
  entriesOf,
  isEmptyNode,
  jsonOf,
  rangeInside,
  type SourceMap,
  type SourceNode,
  type SourceScalar,
} from '../source/source-node.ts';
import type { Range } from '../source/source-text.ts';
import { NamedTypes } from './named-types.ts';
import { NotationError } from './notation-scanner.ts';
import { choiceProblem, type NotationContext, parseNotation, readScalar } from './parse-notation.ts';
import type { PatternBook } from './pattern.ts';
import { inlineSchema, RawSchemaError } from './raw-schema.ts';
import { costProblem } from './schema-cost.ts';
import { problemOfSchema } from './schema-form.ts';
import { ANY, contains, type Field, type ObjectType, type ScalarValue, type Type } from './type.ts';
import { TypeRules } from './type-rules.ts';

const LONG_FORM_KEYS = ['$type', '$title', '$description', '$default', '$examples', '$schema'];
const TYPES_MAX = 100;
// Far above any real interface; compiling a schema costs about a tenth of a millisecond a field.
const PARTS_MAX = 3_000;

/** Reads every type of one method; named types first, so that all others can use them. */
export class TypeReader {
  readonly #findings: Findings;
  readonly #named: NamedTypes;
  readonly #context: NotationContext;
  readonly #rules: TypeRules;
  #parts = 0;

  constructor(findings: Findings, patterns: PatternBook) {
    this.#findings = findings;
    this.#named = new NamedTypes(findings);
    this.#context = { named: this.#named.all, patterns };
    this.#rules = new TypeRules(findings);
  }

  /** Reads `types:`. */
  readTypes(node: SourceNode): void {
    if (node.kind !== 'map') {
      if (!isEmptyNode(node)) this.#findings.add('M310', 'types is a mapping of Name: type', 'types', node.range);
      return;
    }
    for (const entry of node.entries.values()) {
      if (!TYPE_NAME.test(entry.key)) {
        this.#findings.add('M203', 'a type name starts with a capital letter', `types.${entry.key}`, entry.keyRange, {
          hint: 'letters, digits and _, at most 64',
        });
      } else if (this.#named.all.size >= TYPES_MAX) {
        this.#findings.add('M803', `a method has at most ${TYPES_MAX} types`, 'types', entry.keyRange);
        break;
      } else this.#named.declare(entry.key);
    }
    for (const entry of node.entries.values()) {
      const definition = this.#named.all.get(entry.key);
      if (definition) definition.type = this.#field(entry.value, `types.${entry.key}`, entry.keyRange).type;
    }
    this.#named.cutCycles(node);
    this.#rules.settle();
  }

  /** Reads `name: type` fields (`inputs`, `out`). `what` names the place in messages. */
  readFields(node: SourceNode, path: string, what: string): ObjectType {
    if (node.kind !== 'map') {
      if (!isEmptyNode(node)) {
        this.#findings.add('M310', `${what} is a mapping of name: type`, path, node.range, {
          hint: `for example  ${what}: { id: string }`,
        });
      }
      return { kind: 'object', fields: new Map() };
    }
    const type = this.#object(node, path);
    this.#rules.settle();
    return type;
  }

  #object(node: SourceMap, path: string): ObjectType {
    const fields = new Map<string, Field>();
    for (const entry of node.entries.values()) {
      const optional = entry.key.endsWith('?');
      const name = optional ? entry.key.slice(0, -1) : entry.key;
      const at = `${path}.${name}`;
      if (!isFieldName(name)) {
        this.#findings.add('M203', `"${entry.key.slice(0, 40)}" is not a field name`, at, entry.keyRange, {
          hint: name.endsWith('[]')
            ? `write  ${name.slice(0, -2)}: list<...>`
            : 'letters, digits and _, not starting with a digit',
        });
        continue;
      }
      if (fields.has(name)) {
        this.#findings.add('M003', `field "${name}" is declared twice`, at, entry.keyRange, {
          hint: 'remove one of the two',
        });
        continue;
      }
      const field = this.#field(entry.value, at, entry.keyRange);
      if (optional && field.default !== undefined) {
        this.#findings.warn('M309', 'a field with a default is optional already', at, entry.keyRange, 'remove the ?');
      }
      fields.set(name, { ...field, optional: optional && field.default === undefined });
    }
    return { kind: 'object', fields };
  }

  #field(node: SourceNode, path: string, keyRange: Range): Field {
    if (++this.#parts > PARTS_MAX) {
      if (this.#parts === PARTS_MAX + 1) {
        this.#findings.add('M803', `a method declares at most ${PARTS_MAX} fields and types`, path, keyRange);
      }
      return required(ANY);
    }
    if (node.kind === 'scalar') return this.#notation(node, path, keyRange);
    if (node.kind === 'list') {
      const only = node.items.length === 1 ? node.items[0] : undefined;
      if (only?.kind === 'map')
        return required({ kind: 'list', of: this.#field(only, `${path}[0]`, keyRange).type, bounds: {} });
      return required(this.#choice(node.items, path, node.range));
    }
    for (const key of node.entries.keys()) if (key.startsWith('$')) return this.#longForm(node, path, keyRange);
    return required(this.#object(node, path));
  }

  #notation(node: SourceScalar, path: string, keyRange: Range): Field {
    if (node.value === null && node.range[0] === node.range[1]) {
      this.#findings.add('M301', 'a type is missing', path, keyRange, { hint: 'for example  string' });
      return required(ANY);
    }
    const text = node.value === null ? 'null' : node.text;
    try {
      const notation = parseNotation(text, this.#context);
      this.#rules.checkUnion(notation.type, path, node.range);
      const field: Field = {
        ...required(notation.type),
        ...(notation.description === undefined ? {} : { description: notation.description }),
      };
      if (notation.default === undefined) return field;
      const raw = notation.default;
      return this.#rules.withDefault(field, readDefault(raw), raw, path, node.range);
    } catch (error) {
      if (!(error instanceof NotationError)) throw error;
      const range = rangeInside(node, Math.min(error.at, text.length), text.length);
      this.#findings.add(error.code, error.message, path, range, { hint: error.hint });
      return required(ANY);
    }
  }

  #choice(items: readonly SourceNode[], path: string, range: Range): Type {
    const values: ScalarValue[] = [];
    for (const item of items) {
      if (item.kind !== 'scalar') {
        this.#findings.add('M308', 'a list here means a choice of fixed values', path, item.range, {
          hint: 'for example  [approve, reject]',
        });
        return ANY;
      }
      values.push(item.value);
    }
    const problem = choiceProblem(values, this.#context);
    if (!problem) return { kind: 'choice', values };
    this.#findings.add('M308', problem.message, path, range, { hint: problem.hint });
    return ANY;
  }

  #longForm(node: SourceMap, path: string, keyRange: Range): Field {
    for (const entry of node.entries.values()) {
      if (LONG_FORM_KEYS.includes(entry.key)) continue;
      this.#findings.add(
        'M101',
        `unknown key "${entry.key.slice(0, 40)}" in a type`,
        `${path}.${entry.key}`,
        entry.keyRange,
        {
          hint: hintNearest(entry.key, LONG_FORM_KEYS, 'keys'),
        },
      );
    }
    const typed = node.entries.get('$type');
    const raw = node.entries.get('$schema');
    if (typed && raw)
      this.#findings.add('M101', 'a type has $type or $schema, not both', `${path}.$schema`, raw.keyRange);
    else if (!typed && !raw)
      this.#findings.add('M102', 'a type in the long form needs $type', path, keyRange, { hint: 'add  $type: string' });
    const base = typed
      ? this.#field(typed.value, `${path}.$type`, typed.keyRange)
      : required(raw ? this.#raw(raw.value, path) : ANY);
    const field: Field = { ...base, ...this.#words(node, path), ...this.#examples(node, path) };
    const fallback = node.entries.get('$default');
    return fallback
      ? this.#rules.withDefault(field, jsonOf(fallback.value), undefined, `${path}.$default`, fallback.value.range)
      : field;
  }

  #raw(node: SourceNode, path: string): Type {
    try {
      const schema = inlineSchema(jsonOf(node), this.#context.patterns);
      const problem = problemOfSchema(schema);
      if (problem === undefined) {
        const costly = costProblem(schema);
        if (costly !== undefined) {
          const hint = 'fewer branches, or a check of the value in a step';
          this.#findings.addAtSave(
            'M313',
            `the schema costs too much to check: ${costly}`,
            `${path}.$schema`,
            node.range,
            hint,
          );
        }
        return { kind: 'raw', schema };
      }
      this.#findings.add('M301', `not a JSON Schema: ${problem}`, `${path}.$schema`, node.range);
    } catch (error) {
      if (!(error instanceof RawSchemaError)) throw error;
      this.#findings.add('M301', error.message, `${path}.$schema`, node.range);
    }
    return ANY;
  }

  #words(node: SourceMap, path: string): { title?: string; description?: string } {
    const words: { title?: string; description?: string } = {};
    for (const key of ['title', 'description'] as const) {
      const entry = node.entries.get(`$${key}`);
      if (!entry) continue;
      const text = entry.value.kind === 'scalar' ? entry.value.text : undefined;
      if (text === undefined) this.#findings.add('M104', `$${key} is text`, `${path}.$${key}`, entry.value.range);
      else words[key] = text;
    }
    return words;
  }

  #examples(node: SourceMap, path: string): { examples?: readonly unknown[] } {
    const entry = node.entries.get('$examples');
    if (!entry) return {};
    if (entry.value.kind === 'list') return { examples: entry.value.items.map(jsonOf) };
    this.#findings.add('M301', '$examples is a list', `${path}.$examples`, entry.value.range);
    return {};
  }

  /** Reports fields that hold a secret or a file where neither can be given. */
  refuse(type: ObjectType, kinds: readonly ('secret' | 'file')[], node: SourceNode, path: string, why: string): void {
    for (const entry of entriesOf(node)) {
      const name = entry.key.replace(/\?$/, '');
      const field = type.fields.get(name);
      for (const kind of kinds) {
        if (field && contains(field.type, kind))
          this.#findings.add('M302', `a ${kind} ${why}`, `${path}.${name}`, entry.value.range);
      }
    }
  }
}

function required(type: Type): Field {
  return { type, optional: false };
}

/** A raw default as JSON where it reads as JSON, else as text. */
function readDefault(raw: string): ReturnType<typeof jsonOf> {
  if (!/^[[{]/.test(raw)) return readScalar(raw);
  try {
    return JSON.parse(raw) as ReturnType<typeof jsonOf>;
  } catch {
    return raw;
  }
}
