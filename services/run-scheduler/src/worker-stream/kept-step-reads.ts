// Gathers reads of kept steps by turn: runs claimed in one commit share one statement. A run whose steps do not fit
// into it is read by a statement of its own, one at a time.
import type { OrgId, RunId } from '@methods/base/ids';
import { TurnBatch } from '@methods/base/turn-batch';
import type { KeptStep, RunStore } from '../store/run-store.ts';

const RUNS_MAX = 64;

interface Wanted {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly resolve: (steps: readonly KeptStep[]) => void;
  readonly reject: (error: unknown) => void;
}

export class KeptStepReads {
  private readonly wanted = new TurnBatch<Wanted>((wanted) => void this.read(wanted), RUNS_MAX);

  constructor(private readonly store: Pick<RunStore, 'keptSteps' | 'keptStepsOf'>) {}

  /** Finished steps with their outs, in order. */
  of(orgId: OrgId, runId: RunId): Promise<readonly KeptStep[]> {
    return new Promise((resolve, reject) => this.wanted.add({ orgId, runId, resolve, reject }));
  }

  private async read(wanted: readonly Wanted[]): Promise<void> {
    try {
      const found = wanted.length === 1 ? new Map<RunId, KeptStep[]>() : await this.store.keptStepsOf(wanted);
      const large = wanted.filter(({ runId, resolve }) => {
        const steps = found.get(runId);
        if (steps !== undefined) resolve(steps);
        return steps === undefined;
      });
      for (const { orgId, runId, resolve } of large) resolve(await this.store.keptSteps(orgId, runId));
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}
