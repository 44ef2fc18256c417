// The end of a run that was asked to cancel: it comes with the first command that takes the run from its worker.
import { changed, type Decision } from './decision.ts';
import { toCancelled } from './moves.ts';
import type { RunningRun } from './run.ts';

/** Null: it was not asked to. */
export function askedCancel(running: RunningRun, nowMs: number): Decision | null {
  if (!running.cancelRequested) return null;
  const end = toCancelled(running, nowMs);
  return changed(end.run, end.effects);
}
