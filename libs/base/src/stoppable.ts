// The parts of a process start in one order and stop in reverse; each composition lists the order.
import { AssertionFailed } from './assert.ts';

export interface Stoppable {
  start?(): Promise<void> | void;
  stop(): Promise<void> | void;
}

/** Starts in order; if one fails, stops those already started, last first, and throws the first error. */
export async function startAll(parts: readonly Stoppable[]): Promise<void> {
  for (let i = 0; i < parts.length; i++) {
    try {
      await parts[i]?.start?.();
    } catch (error) {
      await stopAll(parts.slice(0, i));
      throw error;
    }
  }
}

/** Stops last first. A part that fails to stop does not prevent the others from stopping. */
export async function stopAll(parts: readonly Stoppable[]): Promise<void> {
  const errors: unknown[] = [];
  for (const part of [...parts].reverse()) {
    try {
      await part.stop();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AssertionFailed(`parts failed to stop: ${errors.map(String).join('; ')}`);
}
