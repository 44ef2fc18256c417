// Bounds the records of a run's steps: all of them stay in memory with their run.
import { sizeOfReceipt, sizeOfVotes } from './receipt.ts';
import type { Run, StepSummary } from './run.ts';

/** Four times the size that a message can show of a run. */
const RECORDED_MAX = 16 * 1024 * 1024;
/** A record this small needs no check of the others: with as many as a run may have, they are far below the bound. */
const SMALL = 4_096;
/** The size of a record or check, besides its texts. */
const OBJECT_SIZE = 200;

/** Reports whether a step's record fits beside the earlier ones. Sizes are in characters. */
export function fitsBeside(others: readonly StepSummary[], step: StepSummary): boolean {
  let size = sizeOf(step);
  if (size <= SMALL) return true;
  for (const other of others) size += sizeOf(other);
  return size <= RECORDED_MAX;
}

/** Returns the approximate memory of a run, in characters. */
export function sizeOfRun({ facts, steps, answer, answers, ...run }: Run): number {
  let size = OBJECT_SIZE + facts.inputsJson.length + (answer?.answerJson.length ?? 0);
  for (const step of steps) size += sizeOf(step);
  for (const receipt of answers) size += sizeOfReceipt(receipt);
  if (run.status !== 'waiting') return size;
  const { formJson, prompt, sealed = '', votes = [] } = run.question;
  return size + formJson.length + prompt.length + sealed.length + sizeOfVotes(votes);
}

function sizeOf({ path, kind, checks, error }: StepSummary): number {
  let size = OBJECT_SIZE + path.length + kind.length;
  if (error !== null) size += error.kind.length + error.message.length;
  for (const { name, phase, status, message } of checks) {
    size += OBJECT_SIZE + name.length + phase.length + status.length + message.length;
  }
  return size;
}
