// Answers given in advance: `--answer` for one question, `--human FILE` for any question of a run.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { RunQuestion } from '@methods/executor/run-outcome';
import { compileCheck } from '@methods/method/check-value';
import type { CompiledMethod, CompiledStep } from '@methods/method/compiled-method';
import { wellFormed } from '@methods/method/cut-text';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { loneSurrogateIn } from '@methods/method/lone-surrogates';
import { nearest } from '@methods/method/source/did-you-mean';
import { parse } from 'yaml';
import { CommandError, UsageError } from '../errors/command-error.ts';
import { allSteps } from '../method-file/called-files.ts';
import { reasonOf, utf8Text } from '../method-file/method-file.ts';

/** Maps a step's path to its answer. */
export type HumanAnswers = ReadonlyMap<string, JsonValue>;

export const NO_ANSWERS: HumanAnswers = new Map();

/** Reads YAML or JSON. @throws CommandError `not_found`; UsageError for a file that is not a mapping of answers. */
export async function readHumanFile(file: string, cwd: string): Promise<HumanAnswers> {
  const bytes = await readFile(resolve(cwd, file)).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('not_found', `cannot read ${file}: ${reasonOf(error)}`);
  });
  let answers: JsonValue;
  try {
    answers = parse(utf8Text(bytes), { maxAliasCount: 0 }) as JsonValue;
  } catch (error) {
    const [first] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new UsageError(`${file} is not YAML or JSON: ${first}`);
  }
  if (!isJsonObject(answers)) throw new UsageError(`${file} does not hold answers`, 'approval: { decision: approve }');
  return new Map(Object.entries(answers));
}

/** An answer to an unknown question would be ignored silently. @throws UsageError */
export function refuseUnknownQuestions(answers: HumanAnswers, method: CompiledMethod, file: string): void {
  // A called method's questions are below the call, in a file that is not read here.
  if (allSteps(method).some((step) => step.kind === 'call')) return;
  const known = questionPaths([...method.steps, ...method.onFailure, ...method.finally]);
  for (const path of answers.keys()) {
    // Rounds of a loop, and the lists after a failure or the end, are in the path but not in the source.
    const place = path.replaceAll(/\[\d+\]/g, '').replace(/^(on_failure|finally)\//, '');
    if (known.includes(place)) continue;
    const near = nearest(place, known);
    const hint = near === undefined ? `questions: ${known.join(', ') || 'none'}` : `did you mean "${near}"?`;
    throw new UsageError(`${file}: the method asks nothing at "${path}"`, hint);
  }
}

function questionPaths(steps: readonly CompiledStep[], above = ''): string[] {
  return steps.flatMap((step) => {
    const path = above + step.name;
    if (step.kind === 'steps' || step.kind === 'parallel') return questionPaths(step.steps, `${path}/`);
    // Any step may ask whether it took effect when its process died in it.
    return step.kind === 'ask' || step.onInterrupt === 'ask' ? [path] : [];
  });
}

/** The answer with its defaults. @throws CommandError `invalid_answer`, naming every field that does not fit. */
export function fittingAnswer(question: Pick<RunQuestion, 'form' | 'step'>, answer: JsonValue): JsonObject {
  const half = halfCharacterIn(answer);
  if (half !== null) throw new CommandError('invalid_answer', `the answer to ${question.step} does not fit: ${half}`);
  const checked = compileCheck(question.form)(answer);
  if (checked.ok) return checked.value as JsonObject;
  const faults = checked.findings.map(({ path, message }) => `${path.slice(1) || 'the answer'} ${message}`);
  throw new CommandError('invalid_answer', `the answer to ${question.step} does not fit: ${faults.join('; ')}`);
}

/** Refused like on a server: JSON can spell it, no text can hold it, and the run would fail where it is used. */
export function halfCharacterIn(answer: JsonValue): string | null {
  const place = loneSurrogateIn(answer, JSON.stringify(answer));
  return place === null ? null : `it holds half of a character at ${wellFormed(place)}`;
}
