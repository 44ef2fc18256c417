// Owns the hand-over from a step to the reader of its kind, and the kinds that hold steps: groups and parallel steps.
import type { CompiledStep, StepKind } from '../../compiled-method.ts';
import type { CompiledValue } from '../../compiled-value.ts';
import type { SourceEntry } from '../../source/source-node.ts';
import type { ObjectType } from '../../types/type.ts';
import type { KindFields } from '../kinds/kind-fields.ts';
import { readAsk } from '../kinds/read-ask.ts';
import { readCall } from '../kinds/read-call.ts';
import { readCode } from '../kinds/read-code.ts';
import { readHttp } from '../kinds/read-http.ts';
import { readLater } from '../kinds/read-later.ts';
import { readWait } from '../kinds/read-wait.ts';
import { readResult } from '../read-interface.ts';
import { placeOf, type StepContext } from '../step-context.ts';
import { readChecks } from './read-checks.ts';
import { listedSteps, readListedStep, readSteps } from './read-steps.ts';
import { hide, innerScope, publish } from './step-scope.ts';

export function readKindFields(context: StepContext, kind: StepKind, entry: SourceEntry): KindFields {
  switch (kind) {
    case 'node':
    case 'python':
    case 'shell':
      return { fields: readCode(context, kind, entry) };
    case 'http':
      return { fields: readHttp(context, entry) };
    case 'ask':
      return { fields: readAsk(context, entry) };
    case 'call':
      return { fields: readCall(context, entry) };
    case 'wait':
      return { fields: readWait(context, entry) };
    case 'check': {
      const checks = readChecks(context, entry, `${context.path}.check`, placeOf(context, 'none'));
      return { fields: { kind, checks } };
    }
    case 'steps':
      return readGroup(context, entry);
    case 'parallel':
      return readParallel(context, entry);
    case 'browser':
    case 'agent':
      return { fields: readLater(context, kind, entry) };
  }
}

/** Groups (`steps`): the steps inside and the value made of them. */
function readGroup(context: StepContext, entry: SourceEntry): KindFields {
  const inner = innerScope(context);
  const steps = readSteps(inner, entry, `${context.path}.steps`);
  const given = context.step.entries.get('result');
  let result: ReadonlyMap<string, CompiledValue> | null = null;
  let value: ObjectType = { kind: 'object', fields: new Map() };
  if (given) ({ values: result, type: value } = readResult(inner, given, `${context.path}.result`));
  return { fields: { kind: 'steps', steps, result }, value, inner };
}

const BRANCHES_MAX = 16;
const ALWAYS = { guards: null, onError: 'fail', loop: null } as const;

/** Parallel steps: branches that do not see each other. */
function readParallel(context: StepContext, entry: SourceEntry): KindFields {
  const { findings } = context;
  const at = `${context.path}.parallel`;
  const items = listedSteps(context, entry, at);
  if (items.length > BRANCHES_MAX)
    findings.add('M805', `parallel runs at most ${BRANCHES_MAX} steps`, at, entry.keyRange, {
      hint: 'use each with at_once, or put some in a second parallel',
    });
  const inner = innerScope(context);
  const steps: CompiledStep[] = [];
  let asking = 0;
  for (const [index, item] of items.slice(0, BRANCHES_MAX).entries()) {
    const branch = innerScope(context);
    const step = readListedStep(branch, item, `${at}[${index}]`);
    publish(branch, inner, ALWAYS);
    hide(branch, context, 'the branches of parallel do not see each other: read it after them');
    if (step) steps.push(step);
    if (step && asks(step)) asking++;
  }
  // The branches are hidden from each other only until the step ends.
  for (const name of inner.finished.keys()) context.hidden.delete(name);
  if (asking > 1)
    findings.warn(
      'M513',
      'the questions of these branches are asked one at a time',
      at,
      entry.keyRange,
      'the first in file order comes first; put what two people decide into one question',
    );
  return { fields: { kind: 'parallel', steps }, inner };
}

/** True when the step, or a step inside it, asks a question. */
function asks(step: CompiledStep): boolean {
  if (step.kind === 'ask') return true;
  return (step.kind === 'steps' || step.kind === 'parallel') && step.steps.some(asks);
}
