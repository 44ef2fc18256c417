// How much the records of a run's steps hold: all of them stay in memory with their run, so there must be an end to it.
import { sizeOfReceipt, sizeOfVotes } from './receipt.ts';
import type { Run, StepSummary } from './run.ts';

/** Four times what a message can show of a run. */
const RECORDED_MAX = 16 * 1024 * 1024;
/** A record this small needs no check of the others: as many as a run may have are far below the bound. */
const SMALL = 4_096;
/** Of a record or check, beside its texts. */
const OBJECT_SIZE = 200;

/** Whether a step's record fits beside the earlier ones. Sizes are in characters. */
export function fitsBeside(others: readonly StepSummary[], step: StepSummary): boolean {
  let size = sizeOf(step);
  if (size <= SMALL) return true;
  for (const other of others) size += sizeOf(other);
  return size <= RECORDED_MAX;
}

/** About what a run takes in memory, in characters. */
export function sizeOfRun({ facts, steps, answer, answers, ...run }: Run): number {
  let size = OBJECT_SIZE + facts.inputsJson.length + (answer?.answerJson.length ?? 0);
  for (const step of steps) size += sizeOf(step);
  for (const receipt of answers) size += sizeOfReceipt(receipt);
  if (run.status !== 'waiting') return size;
  const { formJson, prompt, votes = [] } = run.question;
  return size + formJson.length + prompt.length + sizeOfVotes(votes);
}

function sizeOf({ path, kind, checks, error }: StepSummary): number {
  let size = OBJECT_SIZE + path.length + kind.length;
  if (error !== null) size += error.kind.length + error.message.length;
  for (const { name, phase, status, message } of checks) {
    size += OBJECT_SIZE + name.length + phase.length + status.length + message.length;
  }
  return size;
}
