// Compares the runtime of this machine with the lowest version a method asks for.
import { StepFailure } from '../step-failure.ts';

/** Throws StepFailure of kind dependency when `has` (`20.19.2`) is lower than `needs` (`20`, `3.11`). */
export function checkVersion(runtime: string, has: string, needs: string): void {
  const present = has.split('.').map(Number);
  for (const [i, part] of needs.split('.').map(Number).entries()) {
    const own = present[i] ?? 0;
    if (own > part) return;
    if (own < part) {
      throw new StepFailure('dependency', `The method needs ${runtime} ${needs} or later; this worker has ${has}`);
    }
  }
}
