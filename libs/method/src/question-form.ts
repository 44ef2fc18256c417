// Owns the forms and policies of questions as a method's source gives them: those of ask steps, and those that ask whether an
// interrupted step happened. The forms that workers send are compared with them.
import type { AnswerPolicy } from './answer-policy.ts';
import type { CallTarget, CodeStep, CompiledMethod, CompiledStep, HttpStep } from './compiled-method.ts';
import type { JsonSchema } from './json.ts';

export type QuestionForm =
  /** `ensures`: checks judge the answer. */
  | {
      readonly kind: 'form';
      readonly form: JsonSchema;
      readonly ensures: boolean;
      readonly policy: AnswerPolicy | null;
    }
  /** The step is one of a called method. */
  | { readonly kind: 'call'; readonly target: CallTarget /** The call's own path. */; readonly at: string }
  /** No step of the method asks at this path. */
  | { readonly kind: 'none' };

const NONE: QuestionForm = { kind: 'none' };
/** Far above what names, groups and calls can produce. */
const PATH_CHARACTERS_MAX = 2_000;

/** The form of the question that the step at `path` may ask, such as `review[3]` or `group/approve`. */
export function questionForm(method: CompiledMethod, path: string): QuestionForm {
  if (path.length > PATH_CHARACTERS_MAX) return NONE;
  const parts = path.split('/');
  const after = parts[0] === 'on_failure' ? method.onFailure : parts[0] === 'finally' ? method.finally : null;
  const inSteps = formIn(method.steps, parts, 0);
  return inSteps.kind === 'none' && after !== null ? formIn(after, parts, 1) : inSteps;
}

function formIn(steps: readonly CompiledStep[], parts: readonly string[], at: number): QuestionForm {
  const name = parts[at]?.replace(/\[\d{1,6}\]$/, '');
  const step = steps.find((candidate) => candidate.name === name);
  if (step === undefined) return NONE;
  if (at + 1 < parts.length) {
    if (step.kind === 'call') return { kind: 'call', target: step.target, at: parts.slice(0, at + 1).join('/') };
    return step.kind === 'steps' || step.kind === 'parallel' ? formIn(step.steps, parts, at + 1) : NONE;
  }
  if (step.kind === 'ask')
    return { kind: 'form', form: step.form, ensures: step.ensure.length > 0, policy: step.policy };
  if (!canBeInterrupted(step) || step.onInterrupt !== 'ask') return NONE;
  return { kind: 'form', form: interruptionForm(step), ensures: false, policy: null };
}

function canBeInterrupted(step: CompiledStep): step is CodeStep | HttpStep {
  return step.kind === 'http' || step.kind === 'node' || step.kind === 'python' || step.kind === 'shell';
}

/**
 * `decision`, and with `happened` the step's out. A person cannot give a file or a secret, so then `happened` is not
 * possible.
 */
export function interruptionForm({ out }: CodeStep | HttpStep): JsonSchema {
  const canBeTold = out === null || !(out.hasFile || out.hasSecret);
  const decisions = canBeTold ? ['happened', 'run_again', 'fail'] : ['run_again', 'fail'];
  const form = { type: 'object', required: ['decision'], additionalProperties: false };
  const decision = { enum: decisions, title: 'Did it happen?' };
  if (out === null || !canBeTold) return { ...form, properties: { decision } };
  const { $defs, ...schema } = out.schema;
  const notHappened = { properties: { decision: { enum: ['run_again', 'fail'] } } };
  const needsOut = out.check({}).ok ? {} : { anyOf: [notHappened, { required: ['out'] }] };
  return {
    ...form,
    properties: { decision, out: { ...schema, title: 'What it gave' } },
    ...($defs === undefined ? {} : { $defs }),
    ...needsOut,
  };
}
