// Runs a node step: values in, a message to a warm runner, and what came back.
import type { CodeStep } from '@methods/method/compiled-method';
import { evaluate } from '@methods/method/evaluate';
import type { JsonValue } from '@methods/method/json';
import { LogTail } from './log-tail.ts';
import type { RunnerJob } from './runner-job.ts';
import { runnerKey } from './runner-job.ts';
import type { ActionEnd, StepContext } from './step-context.ts';
import { stepDeadline } from './step-deadline.ts';
import { takeStepFiles } from './step-files.ts';
import { stepKey } from './step-key.ts';

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

export async function runNodeStep(step: CodeStep, context: StepContext): Promise<ActionEnd> {
  let values: JsonValue[] = [];
  for (const value of step.inputs.values()) values.push(evaluate(value, context.scope));
  if (context.folder.hasFiles()) values = await Promise.all(values.map((it) => context.folder.withAbsolutePaths(it)));
  let log: LogTail | null = null;
  const deadline = stepDeadline(step.limits, context.runTimeLeftMs);
  const job: RunnerJob = {
    runnerKey: runnerKey(context.versionId, step.secrets, step.limits.memoryMb),
    memoryMb: step.limits.memoryMb,
    secrets: step.secrets.length === 0 ? NO_SECRETS : secretsOf(step, context),
    step: step.name,
    code: step.code,
    codeLine: step.codeLine,
    names: [...step.inputs.keys()],
    key: stepKey(context.runId, step.name),
    values,
    timeoutMs: deadline.timeoutMs,
    timeoutText: deadline.text,
    log: () => {
      log ??= new LogTail(context.mask, step.limits.logBytesMax);
      return log;
    },
    collectFiles: (out, workDir) => takeStepFiles(step, out, workDir, context.folder),
  };
  const pooled = context.runners.run(job);
  const reply = await context.stop.during(pooled.reply, pooled.cancel);
  // Assigned in a callback, which the compiler does not see.
  const written = log as LogTail | null;
  return { returned: reply.out, failure: reply.failure, checks: reply.checks, log: written?.end() ?? null };
}

function secretsOf(step: CodeStep, context: StepContext): Map<string, string> {
  return new Map(step.secrets.map((name) => [name, context.secrets.get(name) ?? '']));
}
