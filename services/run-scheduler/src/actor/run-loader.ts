// Reads of runs by id, gathered by turn: whoever needs a run in the same turn shares one query.
import { TurnBatch } from '@methods/base/turn-batch';
import type { Run } from '../run/run.ts';
import type { RunStore } from '../store/run-store.ts';

interface Wanted {
  readonly runId: string;
  readonly resolve: (run: Run | null) => void;
  readonly reject: (error: unknown) => void;
}

export class RunLoader {
  private readonly batch = new TurnBatch<Wanted>((wanted) => void this.read(wanted));

  constructor(private readonly store: RunStore) {}

  load(runId: string): Promise<Run | null> {
    return new Promise((resolve, reject) => this.batch.add({ runId, resolve, reject }));
  }

  private async read(wanted: readonly Wanted[]): Promise<void> {
    try {
      const runs = await this.store.load([...new Set(wanted.map((w) => w.runId))]);
      for (const { runId, resolve } of wanted) resolve(runs.get(runId) ?? null);
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}
