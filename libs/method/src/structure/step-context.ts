// Owns what reading one step needs of its method: findings, types, values, limits, and the steps finished so far.
import type { OutFields } from '../compiled-method.ts';
import type { Root } from '../expression/compile-expression.ts';
import type { Findings } from '../source/findings.ts';
import type { SourceMap } from '../source/source-node.ts';
import type { SchemaWriter } from '../types/json-schema.ts';
import type { TypeReader } from '../types/read-type.ts';
import type { Field, ObjectType } from '../types/type.ts';
import type { DeclaredSecrets } from './declared-secrets.ts';
import type { GivenLimits } from './read-limits.ts';
import type { ValuePlace, ValueReader } from './read-value.ts';

export interface MethodContext {
  readonly findings: Findings;
  readonly types: TypeReader;
  readonly schemas: SchemaWriter;
  readonly values: ValueReader;
  readonly secrets: DeclaredSecrets;
  readonly limits: GivenLimits;
  readonly roots: ReadonlyMap<string, Root>;
  /** Finished steps by name; grows as steps are read, and is the type of `steps` in expressions. */
  readonly finished: Map<string, Field>;
  /** Names of all steps not finished yet. */
  readonly later: Set<string>;
  readonly legacyKeys: ReadonlyMap<string, string>;
}

/** One step under reading. */
export interface StepContext extends MethodContext {
  readonly step: SourceMap;
  readonly path: string;
  /** What holds while the step runs: the facts of its `if`. */
  readonly facts: ReadonlySet<string>;
  readonly out: OutFields | null;
  readonly outType: ObjectType | null;
}

/** The place of values inside a step. */
export function placeOf(
  context: StepContext,
  secrets: ValuePlace['secrets'],
  more: ReadonlyMap<string, Root> = new Map(),
): ValuePlace {
  const roots = more.size === 0 ? context.roots : new Map([...context.roots, ...more]);
  return { roots, facts: context.facts, secrets, laterSteps: context.later };
}
