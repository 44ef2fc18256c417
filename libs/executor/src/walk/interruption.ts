// Handles a step whose worker was lost while it ran (`on_interrupt`): a person may know whether it took effect.
import type { CodeStep, HttpStep } from '@methods/method/compiled-method';
import { type JsonObject, ownField } from '@methods/method/json';
import { interruptionForm } from '@methods/method/question-form';
import { stepOut } from '../records/step-out.ts';
import type { RunQuestion } from '../run-outcome.ts';
import { StepFailure } from '../step-failure.ts';
import type { Turn } from './place.ts';
import { isDelay } from './wait.ts';
import type { Walk } from './walk.ts';
import type { Walked } from './walk-end.ts';

/** `checkpoint`: to be kept with the step's start. */
interface ToRun {
  readonly kind: 'run';
  readonly checkpoint?: JsonObject;
}

const TO_RUN: ToRun = { kind: 'run' };

/** For `on_interrupt: fail` and `ask`. */
export function resumption(walk: Walk, step: CodeStep | HttpStep, turn: Turn): ToRun | Walked {
  const { run } = walk;
  const begun = run.begun(turn.path);
  if (begun === null || isDelay(begun.checkpoint)) return TO_RUN;
  if (step.onInterrupt === 'fail') {
    const message = 'The worker was lost while the step ran; it is unknown whether it took effect';
    return walk.failed(step, turn, new StepFailure('interrupted', message));
  }
  const { answer } = run.options;
  const used = begun.checkpoint as JsonObject | null;
  // An answer counts for one interruption: the step may have begun again since, and been lost again.
  if (answer?.step !== turn.path || used?.answered === answer.questionId) {
    return { kind: 'asking', question: didItHappen(step, turn.path) };
  }
  const decision = ownField(answer.value, 'decision');
  if (decision === 'run_again') return { kind: 'run', checkpoint: { answered: answer.questionId } };
  if (decision === 'happened') return happened(walk, step, turn, ownField(answer.value, 'out'));
  return walk.failed(step, turn, new StepFailure('interrupted', 'The step was interrupted, and a person ended it'));
}

function happened(walk: Walk, step: CodeStep | HttpStep, turn: Turn, told: JsonObject[string] | undefined): Walked {
  const { recorder } = turn.place.frame;
  const begun = recorder.begin();
  try {
    const out = stepOut(step, told, recorder.mask, walk.run.options.folder);
    walk.succeeded(step, turn, out, begun, {});
    return { kind: 'done', value: out.value };
  } catch (error) {
    return walk.failed(step, turn, error, begun);
  }
}

function didItHappen(step: CodeStep | HttpStep, path: string): RunQuestion {
  return {
    step: path,
    prompt: `Did "${step.title ?? path}" happen?`,
    details: 'The worker was lost while this step ran. It may have taken effect or not.',
    show: [],
    form: interruptionForm(step),
  };
}
