// Runs a code step (node, python or shell): values in, a runner that runs the code, and its result. What a step prints,
// and the out of a shell step, become typed fields.
import type { CodeStep, CompiledMethod, CompiledStep } from '@methods/method/compiled-method';
import { evaluate } from '@methods/method/evaluate';
import { isJsonList, isJsonObject, type JsonSchema, type JsonValue, objectOf, ownField } from '@methods/method/json';
import { isContainedNodeCode, isPlainNodeCode } from '@methods/method/structure/computing-code';
import { type FileValue, refuseNamedFiles, withGivenFiles } from './files/file-value.ts';
import { LogTail } from './log-tail.ts';
import { stepDeadline } from './run-stop.ts';
import { type RunnerJob, runnerKey } from './runners/runner-job.ts';
import { readsValuesFile } from './runners/step-lines.ts';
import { type ActionEnd, type StepContext, stepKey } from './step-context.ts';
import { StepFailure } from './step-failure.ts';
import { takeStepFiles } from './step-files.ts';

const NO_KIND = { plain: false, contained: false };
const NO_SECRETS: ReadonlyMap<string, string> = new Map();
/** Of the steps seen so far. */
const codeKinds = new WeakMap<CodeStep, CodeKind>();

interface CodeKind {
  readonly plain: boolean;
  readonly contained: boolean;
}

/** Rejects with StepFailure or ExpressionError when the step could not begin. */
export async function runCodeStep(step: CodeStep, context: StepContext): Promise<ActionEnd> {
  const { runners, folder, environment } = context;
  let values: JsonValue[] = [];
  for (const value of step.inputs.values()) values.push(evaluate(value, context.scope));
  const names = [...step.inputs.keys()];
  context.onInput?.(objectOf(names.map((name, i) => [name, values[i] ?? null] as const)));
  // Only files that the run folder knows as its own: text that looks like a path may be invented.
  const files = new Map<string, FileValue>();
  const made = new Set<JsonValue>();
  if (folder.maySeeFiles()) values = await Promise.all(values.map((it) => folder.withAbsolutePaths(it, files)));
  const path = environment.path === '' ? runners.path : `${environment.path}:${runners.path}`;
  const python = step.kind === 'python' ? await runners.pythons.get(environment.pythonCommand, path) : null;
  const secrets = step.secrets.length === 0 ? NO_SECRETS : secretsOf(step, context);
  const { memoryMb } = step.limits;
  const deadline = stepDeadline(step.limits, context.runTimeLeftMs);
  const parts = {
    language: step.kind,
    versionId: context.versionId,
    network: step.network,
    memoryMb,
    environment,
    secrets,
  };
  const lib = context.lib[step.kind] ?? null;
  // A lib's own code may do anything when it is created for the step.
  const isAlone = step.stdout === null && files.size === 0 && context.lib.node === undefined;
  let tail: LogTail | null = null;
  const job: RunnerJob = {
    runnerKey: step.kind === 'shell' ? runners.freshKey() : runnerKey(parts),
    language: step.kind,
    memoryMb,
    secrets,
    network: step.network,
    environment,
    python,
    lib,
    ...(isAlone ? codeKindOf(step) : NO_KIND),
    mayWait: step.kind !== 'shell' && files.size === 0 && !readsValuesFile(step.code, lib),
    step: step.name,
    code: step.code,
    codeLine: step.codeLine,
    names,
    key: stepKey(context.runId, context.path),
    tryNumber: context.tryNumber,
    values,
    files: [...files.keys()],
    timeoutMs: deadline.timeoutMs,
    timeoutText: deadline.text,
    stdoutBytesMax: step.stdout === null ? null : step.limits.outputBytesMax,
    log() {
      tail ??= new LogTail(context.mask, step.limits.logBytesMax, context.onLog);
      return tail;
    },
    masked: (text) => context.mask.text(text),
    told: context.onEvent,
    collectFiles(out, workDir) {
      return takeStepFiles(step, out, workDir, folder, context.path, made);
    },
  };
  const reply = await context.stop.during(runners.run(job), () => runners.cancel(job));
  // Assigned in a callback, which the compiler does not see.
  const log = (tail as LogTail | null)?.end() ?? null;
  const { checks, failure, stdout } = reply;
  if (failure !== null) return { returned: undefined, failure, checks, log };
  const typed = step.kind === 'shell' ? typedOut(step, reply.out) : reply.out;
  const end =
    step.stdout === null || stdout === null
      ? { returned: typed, failure }
      : printedOut(step, step.stdout, typed, stdout);
  const returned = end.returned && withGivenFiles(end.returned, [...files.values()], made);
  if (returned !== undefined) refuseNamedFiles(returned, folder, made);
  return { returned, failure: end.failure, checks, log };
}

/**
 * The step has no effect outside, so it may run before earlier steps are recorded, and again after a resume. `lib`
 * belongs to its method: its effects are unknown.
 */
export function onlyComputes(step: CompiledStep, lib: CompiledMethod['lib']): boolean {
  return step.kind === 'node' && step.onInterrupt === 'rerun' && lib.node === undefined && codeKindOf(step).plain;
}

function codeKindOf(step: CodeStep): CodeKind {
  let kind = codeKinds.get(step);
  if (kind === undefined) {
    const isNode = step.kind === 'node';
    const names = [...step.inputs.keys()];
    const plain = isNode && isPlainNodeCode(step.code, names);
    kind = { plain, contained: isNode && isContainedNodeCode(step.code, names) };
    codeKinds.set(step, kind);
  }
  return kind;
}

function secretsOf(step: CodeStep, context: StepContext): Map<string, string> {
  return new Map(step.secrets.map((name) => [name, context.secrets.get(name) ?? '']));
}

/** `returned` with the printed text as the field; without its last line breaks, as in a shell's `$(…)`. */
function printedOut(
  step: CodeStep,
  stdout: NonNullable<CodeStep['stdout']>,
  returned: JsonValue | undefined,
  printed: Buffer,
): { readonly returned: JsonValue | undefined; readonly failure: StepFailure | null } {
  const { outputBytesMax } = step.limits;
  if (printed.length > outputBytesMax) {
    const message = `The step printed more than ${outputBytesMax / 1024} KiB (limits: output_kb); use a file`;
    return { returned: undefined, failure: new StepFailure('limit', message) };
  }
  const text = printed.toString('utf8').replace(/[\r\n]+$/, '');
  let value: JsonValue = text;
  if (stdout.as === 'json') {
    try {
      value = JSON.parse(text) as JsonValue;
    } catch {
      const message = `What the step printed is not JSON, as the field ${stdout.field} needs`;
      return { returned: undefined, failure: new StepFailure('out', message) };
    }
  }
  // A value that is not an object fails as it would without `stdout`.
  if (returned !== undefined && returned !== null && !isJsonObject(returned)) return { returned, failure: null };
  return { returned: { ...returned, [stdout.field]: value }, failure: null };
}

/** `step out count 3` says "3": fields that are not text are read as JSON, and stay text when they are not JSON. */
function typedOut(step: CodeStep, returned: JsonValue | undefined): JsonValue | undefined {
  if (returned === undefined || !isJsonObject(returned) || step.out === null) return returned;
  const { schema } = step.out;
  const properties = ownField(schema, 'properties');
  const typed = Object.entries(returned).map(([name, value]): [string, JsonValue] => {
    if (typeof value !== 'string') return [name, value];
    const field = isJsonObject(properties) ? ownField(properties, name) : undefined;
    if (!isJsonObject(field) || takesText(field, schema)) return [name, value];
    try {
      return [name, JSON.parse(value) as JsonValue];
    } catch {
      return [name, value];
    }
  });
  return Object.fromEntries(typed);
}

/** True when the field may hold a text; JSON in a text is then not parsed. */
function takesText(field: JsonSchema, root: JsonSchema): boolean {
  const { $ref, type, anyOf, enum: choices } = field;
  if (typeof $ref === 'string') {
    const shared = ownField(root, '$defs');
    const target = isJsonObject(shared) ? ownField(shared, $ref.replace('#/$defs/', '')) : undefined;
    return !isJsonObject(target) || takesText(target, {});
  }
  if (isJsonList(choices)) return choices.some((it) => typeof it === 'string');
  if (isJsonList(anyOf)) return anyOf.some((it) => isJsonObject(it) && takesText(it, root));
  if (type === undefined) return true;
  return isJsonList(type) ? type.includes('string') : type === 'string';
}
