// Owns the context of reading one step: its method, the steps it can read, and the facts known at its place.
import type { CodeBlock, CodeLanguage, CompiledStep, OutFields } from '../compiled-method.ts';
import type { Root } from '../expression/compile-expression.ts';
import type { JsonSchema } from '../json.ts';
import type { Findings } from '../source/findings.ts';
import type { SourceMap } from '../source/source-node.ts';
import type { SchemaWriter } from '../types/json-schema.ts';
import type { TypeReader } from '../types/read-type.ts';
import type { Field, ObjectType } from '../types/type.ts';
import type { ValueFit } from '../types/value-fit.ts';
import type { DeclaredSecrets } from './declared-secrets.ts';
import type { GivenLimits } from './read-limits.ts';
import type { ValuePlace, ValueReader } from './read-value.ts';

// What a caller knows of the methods it calls.

/** The interface of a called method: its compiled `inputSchema` and `resultSchema`. */
export interface Callee {
  readonly inputSchema: JsonSchema;
  readonly resultSchema: JsonSchema;
}

/**
 * Finds a called method by the target as it is written (`wf_…`, `wf_…@ver_…`, `wf_…@published`, `./file.method`).
 * `missing`: there is none (M514); `cycle`, `too_deep`: it calls this method again, or calls nest deeper than 5 (M515);
 * undefined: not known here, so the call is not checked. Must not throw.
 */
export type Callees = (target: string) => Callee | 'missing' | 'cycle' | 'too_deep' | undefined;

/** The method, as seen from one list of steps. Inner lists get a copy with a scope of their own. */
export interface MethodContext {
  readonly findings: Findings;
  readonly types: TypeReader;
  readonly schemas: SchemaWriter;
  readonly values: ValueReader;
  readonly secrets: DeclaredSecrets;
  readonly limits: GivenLimits;
  readonly lib: { readonly [Language in CodeLanguage]?: CodeBlock };
  readonly callees: Callees;
  readonly legacyKeys: ReadonlyMap<string, string>;
  /** Names of all steps read so far, at any depth: a name is used once a file. */
  readonly names: Set<string>;
  /** The out of one run of each step read so far, by name: what its mock must fit. */
  readonly outTypes: Map<string, ObjectType>;
  /** Names of all steps not finished yet. */
  readonly later: Set<string>;
  /** Finished steps that cannot be read here, and why: those of other rounds and of other branches. */
  readonly hidden: Map<string, string>;
  /** The names that expressions can read here. `steps` is typed by `finished`. */
  readonly roots: ReadonlyMap<string, Root>;
  /** Finished steps that can be read here, by name; grows as steps are read. */
  readonly finished: Map<string, Field>;
  /** The facts known here: those of the `if`s around. */
  readonly facts: ReadonlySet<string>;
  /** Reads one step: passed as a function, since lists of steps and steps would otherwise import each other. */
  readonly readStep: (context: MethodContext, step: SourceMap, path: string) => CompiledStep | undefined;
  /** The budget for time-out answers, one for all questions of the file. */
  readonly answerFit: ValueFit;
  readonly answerTank: { left: number };
  /** How many steps of the file have been read. */
  readonly steps: { count: number };
  /** Lists of steps around, this one included. */
  readonly level: number;
  /** Several of these steps may run at once (`at_once`), so questions have to wait for each other. */
  readonly atOnce: boolean;
}

/** One step under reading. */
export interface StepContext extends MethodContext {
  readonly step: SourceMap;
  readonly path: string;
  /** Empty when the name could not be read. */
  readonly name: string;
  /** The step's own `limits`. */
  readonly ownLimits: GivenLimits;
  readonly out: OutFields | null;
  readonly outType: ObjectType | null;
}

type OwnContext = Omit<StepContext, Exclude<keyof MethodContext, 'facts' | 'atOnce'>>;

/** One step within `method`. Each field by its name: spread and then added to, so many would make a slow object. */
export function stepContext(method: MethodContext, own: OwnContext): StepContext {
  return {
    findings: method.findings,
    types: method.types,
    schemas: method.schemas,
    values: method.values,
    secrets: method.secrets,
    limits: method.limits,
    lib: method.lib,
    callees: method.callees,
    legacyKeys: method.legacyKeys,
    names: method.names,
    outTypes: method.outTypes,
    later: method.later,
    hidden: method.hidden,
    roots: method.roots,
    finished: method.finished,
    readStep: method.readStep,
    answerFit: method.answerFit,
    answerTank: method.answerTank,
    steps: method.steps,
    level: method.level,
    facts: own.facts,
    atOnce: own.atOnce,
    step: own.step,
    path: own.path,
    name: own.name,
    ownLimits: own.ownLimits,
    out: own.out,
    outType: own.outType,
  };
}

/** The place of values inside a step, or between steps. */
export function placeOf(
  context: MethodContext,
  secrets: ValuePlace['secrets'],
  more: ReadonlyMap<string, Root> = new Map(),
): ValuePlace {
  const roots = more.size === 0 ? context.roots : new Map([...context.roots, ...more]);
  return { roots, facts: context.facts, secrets, laterSteps: context.later, hiddenSteps: context.hidden };
}
