// Runs an http step: one request with its deadline, and the values of its answer.
import type { HttpStep } from '@methods/method/compiled-method';
import type { Scope } from '@methods/method/evaluate';
import { stepDeadline } from '../run-stop.ts';
import { type ActionEnd, type StepContext, stepKey } from '../step-context.ts';
import { StepFailure } from '../step-failure.ts';
import { exchange } from './http-exchange.ts';
import { buildRequest } from './http-request.ts';
import { readResponse } from './http-response.ts';

export async function runHttpStep(step: HttpStep, context: StepContext): Promise<ActionEnd> {
  const scope: Scope = { ...context.scope, secrets: (name) => secretOf(step, context, name) };
  const request = await buildRequest(step, scope, stepKey(context.runId, context.path), context.folder);
  const deadline = stepDeadline(step.limits, context.runTimeLeftMs);
  const abort = new AbortController();
  let timedOut = false;
  const timer =
    deadline.timeoutMs === null
      ? null
      : context.clock.after(deadline.timeoutMs, () => {
          timedOut = true;
          abort.abort();
        });
  const work = exchange(request, context.fetch, abort.signal, context.mask).then((response) =>
    readResponse(step, response, context),
  );
  try {
    const read = await context.stop.during(work, () => abort.abort());
    return { ...read, failure: null, checks: [], log: null };
  } catch (error) {
    throw timedOut ? new StepFailure('timeout', `No answer within ${deadline.text}`) : error;
  } finally {
    timer?.cancel();
  }
}

function secretOf(step: HttpStep, context: StepContext, name: string): string {
  const value = step.secrets.includes(name) ? context.secrets.get(name) : undefined;
  if (value === undefined) throw new StepFailure('secret', `The step does not declare the secret ${name}`);
  return value;
}
