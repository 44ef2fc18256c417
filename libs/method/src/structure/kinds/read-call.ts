// Owns call steps: the method called (M514, M515), what it is given (M516), and what is taken of its result (M517).
import type { ProductionId, VersionId } from '@methods/base/ids';
import type { CallStep, CallTarget } from '../../compiled-method.ts';
import { hintNearest } from '../../source/did-you-mean.ts';
import { type SourceEntry, stringOf } from '../../source/source-node.ts';
import { fits, overlap } from '../../types/fits.ts';
import { type Field, isNullable, shortType } from '../../types/type.ts';
import { typeOfSchema } from '../../types/type-of-schema.ts';
import { type Callee, placeOf, type StepContext } from '../step-context.ts';
import { type GivenValue, readIn } from './read-in.ts';

type CallFields = Pick<CallStep, 'kind' | 'target' | 'inputs'>;

const METHOD = /^wf_[A-Za-z0-9]{1,64}$/;
const VERSION = /^[A-Za-z0-9_]{1,80}$/;
const FILE = /^\.{1,2}\/(?:[\w.-]+\/)*[\w.-]{1,200}\.method$/;
const NOWHERE: CallTarget = { kind: 'file', path: '' };

export function readCall(context: StepContext, entry: SourceEntry): CallFields {
  const { path } = context;
  const given = readIn(context, placeOf(context, 'none'), 'inputs');
  const inputs = new Map(Array.from(given, ([name, { value }]) => [name, value]));
  const text = stringOf(entry.value) ?? '';
  const target = parseTarget(text);
  if (!target) {
    context.findings.add('M514', 'call needs the id of a method', `${path}.call`, entry.value.range, {
      hint: 'write  wf_… ,  wf_…@ver_… ,  wf_…@published  or, in local runs,  ./file.method',
    });
    return { kind: 'call', target: NOWHERE, inputs };
  }
  const callee = findCallee(context, entry, text);
  if (callee) {
    checkInputs(context, entry, callee, given);
    checkOut(context, callee);
  }
  return { kind: 'call', target, inputs };
}

function isMethod(text: string): text is ProductionId {
  return METHOD.test(text);
}

/** A name without the prefix of versions is one that no method has. */
function isVersion(text: string): text is VersionId {
  return VERSION.test(text);
}

function parseTarget(text: string): CallTarget | undefined {
  if (text.length <= 500 && FILE.test(text)) return { kind: 'file', path: text };
  const [method = '', version, ...more] = text.split('@');
  if (!isMethod(method) || more.length > 0) return undefined;
  if (version === undefined) return { kind: 'method', method, version: 'pinned' };
  if (version === 'published') return { kind: 'method', method, version };
  return isVersion(version) ? { kind: 'method', method, version: { id: version } } : undefined;
}

function findCallee(context: StepContext, entry: SourceEntry, target: string): Callee | undefined {
  const { findings } = context;
  const at = `${context.path}.call`;
  const callee = context.callees(target);
  if (callee === 'missing') {
    findings.add('M514', `there is no method ${target}`, at, entry.value.range, {
      hint: 'the id is on the method’s page; a version belongs to its method',
    });
  } else if (callee === 'cycle') {
    findings.add('M515', `${target} calls this method again`, at, entry.value.range, {
      hint: 'methods cannot call each other in a circle: use repeat or each',
    });
  } else if (callee === 'too_deep') {
    findings.add('M515', 'calls nest deeper than 5 methods', at, entry.value.range, {
      hint: 'let this method call the innermost ones itself',
    });
  } else return callee;
  return undefined;
}

function checkInputs(
  context: StepContext,
  entry: SourceEntry,
  callee: Callee,
  given: ReadonlyMap<string, GivenValue>,
): void {
  const { findings, path, step } = context;
  const wanted = typeOfSchema(callee.inputSchema);
  if (wanted.kind !== 'object') return;
  const { fields } = wanted;
  for (const [name, value] of given) {
    const at = `${path}.in.${name}`;
    const field = fields.get(name);
    if (field) checkInput(context, at, name, field, value);
    else
      findings.add('M516', `the called method has no input "${name}"`, at, value.keyRange, {
        hint: () => hintNearest(name, fields.keys(), 'its inputs') ?? 'it has no inputs: remove in',
      });
  }
  const inEntry = step.entries.get('in');
  for (const [name, field] of fields) {
    if (given.has(name) || field.optional) continue;
    findings.add(
      'M516',
      `the called method needs the input "${name}"`,
      `${path}.in`,
      inEntry?.keyRange ?? entry.keyRange,
      {
        hint: `add  in: { ${name}: … }  (${shortType(field.type)})`,
      },
    );
  }
}

function checkInput(context: StepContext, at: string, name: string, field: Field, given: GivenValue): void {
  const { findings } = context;
  const { value, type, range } = given;
  const good = value.kind === 'literal' ? fits(value.value, field.type) : overlap(type, field.type);
  if (!good) {
    const shown = value.kind === 'literal' ? 'this value does not fit' : `${shortType(type)} does not fit`;
    findings.add('M516', `${shown} the input "${name}", which is ${shortType(field.type)}`, at, range, {
      hint: 'give what the called method declares under inputs',
    });
  } else if (!field.optional && isNullable(type) && !isNullable(field.type)) {
    findings.add('M516', `the input "${name}" is needed, but this may be absent`, at, range, {
      hint: 'write  =… ?? fallback',
    });
  }
}

/** `out` is a projection of the result: each field must be one of it, and of a type it can have. */
function checkOut(context: StepContext, callee: Callee): void {
  const { findings, outType, path, step } = context;
  const result = typeOfSchema(callee.resultSchema);
  const out = step.entries.get('out')?.value;
  if (result.kind !== 'object' || outType === null || out?.kind !== 'map') return;
  for (const { key, keyRange, value } of out.entries.values()) {
    const name = key.replace(/\?$/, '');
    const field = outType.fields.get(name);
    const given = result.fields.get(name);
    if (!field) continue;
    if (!given) {
      findings.add('M517', `the called method's result has no "${name}"`, `${path}.out.${name}`, keyRange, {
        hint: hintNearest(name, result.fields.keys(), 'it has') ?? 'it has no result',
      });
    } else if (!overlap(given.type, field.type)) {
      const types = `${shortType(given.type)}, not ${shortType(field.type)}`;
      findings.add('M517', `"${name}" of the result is ${types}`, `${path}.out.${name}`, value.range, {
        hint: 'declare what the called method gives',
      });
    }
  }
}
