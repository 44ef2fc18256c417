// What the types of a method describe: its inputs, its result and the answers to its questions.
import type { CompiledMethod, CompiledStep } from '@methods/method/compiled-method';
import { isJsonObject, type JsonSchema, type JsonValue, ownField } from '@methods/method/json';

export interface MethodShape {
  /** wf_…; null for a file that is not saved. */
  readonly id: string | null;
  readonly name: string;
  readonly title: string;
  readonly inputs: JsonSchema;
  readonly result: JsonSchema;
  /** By the path of the step that asks, without the numbers of rounds. */
  readonly answers: ReadonlyMap<string, JsonSchema>;
}

export function shapeOf(method: CompiledMethod, id: string | null): MethodShape {
  const answers = new Map<string, JsonSchema>();
  collect(method.steps, '', answers);
  collect(method.onFailure, 'on_failure/', answers);
  collect(method.finally, 'finally/', answers);
  const { name, title = name, inputSchema: inputs, resultSchema: result } = method;
  return { id, name, title: oneLine(title), inputs, result, answers };
}

function collect(steps: readonly CompiledStep[], before: string, answers: Map<string, JsonSchema>): void {
  for (const step of steps) {
    const path = `${before}${step.name}`;
    if (step.kind === 'ask') answers.set(path, step.form);
    if (step.kind === 'steps' || step.kind === 'parallel') collect(step.steps, `${path}/`, answers);
  }
}

/** The same name in several schemas is one entry in the method's `types`. */
export function definitionsOf({ inputs, result, answers }: MethodShape): Map<string, JsonValue> {
  const definitions = new Map<string, JsonValue>();
  for (const schema of [inputs, result, ...answers.values()]) {
    const found = ownField(schema, '$defs');
    if (isJsonObject(found)) for (const [name, definition] of Object.entries(found)) definitions.set(name, definition);
  }
  return definitions;
}

/** Names of one file, each given out once. */
export class TypeNames {
  private readonly taken: Set<string>;
  private readonly definitions = new Map<string, string>();
  private readonly prefix: string;

  /** `reserved`: names that the file uses for something else. */
  constructor(method: string, reserved: readonly string[] = []) {
    this.prefix = pascalCase(method);
    this.taken = new Set(reserved);
  }

  take(word: string): string {
    return this.unique(hintOf(this.prefix, word));
  }

  define(definition: string): void {
    if (!this.definitions.has(definition)) this.definitions.set(definition, this.take(definition));
  }

  ofDefinition(definition: string): string | undefined {
    return this.definitions.get(definition);
  }

  /** The name, or the same with a number. */
  unique(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.taken.has(name); count++) name = `${wanted}${count}`;
    this.taken.add(name);
    return name;
  }
}

/** What a part of the type of this name is called. */
export function hintOf(name: string, part: string): string {
  return `${name}${pascalCase(part)}`;
}

function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(joined) ? joined : `Method${joined}`;
}

export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
