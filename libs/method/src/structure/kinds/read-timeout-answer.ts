// Owns `on_timeout` of an ask step: the run fails, or the question has an answer once its deadline has passed (M520,
// M521).

import { refusalText, refusedBy } from '../../answer-checks.ts';
import type { AnswerPolicy } from '../../answer-policy.ts';
import type { CompiledCheck } from '../../compiled-method.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { isEmptyNode, jsonOf, type SourceEntry, type SourceNode } from '../../source/source-node.ts';
import { utf8Bytes } from '../../utf8-bytes.ts';
import { checkKeys } from '../check-keys.ts';
import { TIMEOUT_KEYS } from '../keys.ts';
import type { StepContext } from '../step-context.ts';

const ANSWER_BYTES_MAX = 64 * 1024;
/** A method has up to 200 questions, so each takes 3 ms at most. */
const EFFORT = { stepsMax: 100_000, addedBytesMax: ANSWER_BYTES_MAX };

/** The answer with its defaults; null: the run fails. */
export function readTimeoutAnswer(
  context: StepContext,
  entry: SourceEntry | undefined,
  path: string,
): AnswerPolicy['timeoutAnswer'] {
  if (!entry) return null;
  const { findings, ownLimits } = context;
  if (ownLimits.timeout === undefined)
    findings.add('M520', 'on_timeout needs a deadline', path, entry.keyRange, {
      hint: 'add  limits: { timeout: 3d }  to the step',
    });
  const { value } = entry;
  if (value.kind === 'map') {
    checkKeys(findings, value, TIMEOUT_KEYS, path);
    const answer = value.entries.get('answer');
    if (answer) return readAnswer(context, answer.value, `${path}.answer`);
  } else if (value.kind === 'scalar' && value.text === 'fail') return null;
  findings.add('M105', 'on_timeout is fail or { answer: … }', path, value.range, {
    hint: 'for example  on_timeout: { answer: { decision: reject } }',
  });
  return null;
}

function readAnswer(context: StepContext, node: SourceNode, path: string): JsonObject | null {
  const { findings, outType, out, answerFit } = context;
  // Without a form there is M512.
  if (outType === null || out === null) return null;
  const misfit = answerFit.fields(node, outType, path, '');
  if (misfit) {
    findings.add('M521', `the answer does not fit out: ${misfit.message}`, misfit.path, misfit.range, {
      hint: misfit.hint ?? 'write every field of out that has no default',
    });
    return null;
  }
  const checked = out.check(isEmptyNode(node) ? {} : jsonOf(node), EFFORT);
  if (!checked.ok) {
    const { path: at, message } = checked.findings[0] ?? { path: '', message: 'does not fit' };
    findings.add('M521', `the answer does not fit out: ${at} ${message}`.slice(0, 300), path, node.range);
    return null;
  }
  if (utf8Bytes(JSON.stringify(checked.value)) <= ANSWER_BYTES_MAX && isJsonObject(checked.value)) return checked.value;
  findings.add('M803', 'an answer holds at most 64 KiB', path, node.range, { hint: 'write a shorter answer' });
  return null;
}

/** M521 for an answer that the checks of the step refuse. Those that read other values are judged in the run. */
export function judgeTimeoutAnswer(
  { findings, answerTank, step, path }: StepContext,
  policy: AnswerPolicy | null,
  ensure: readonly CompiledCheck[],
): void {
  if (policy === null || policy.timeoutAnswer === null || findings.refused) return;
  const [refused] = refusedBy({ ensure }, null, policy.timeoutAnswer, answerTank);
  const ask = step.entries.get('ask')?.value;
  const given = ask?.kind === 'map' ? ask.entries.get('on_timeout') : undefined;
  if (refused === undefined || given === undefined) return;
  findings.add('M521', 'a check of the step refuses the answer', `${path}.ask.on_timeout`, given.value.range, {
    hint: refusalText(refused).slice(0, 200),
  });
}
