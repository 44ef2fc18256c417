// Gathers reads of runs by id: all callers that need a run in the same turn share one query.
import type { RunId } from '@methods/base/ids';
import { TurnBatch } from '@methods/base/turn-batch';
import type { Run } from '../run/run.ts';
import type { RunPlace, RunStore } from '../store/run-store.ts';

interface Wanted<Found> {
  readonly runId: RunId;
  readonly resolve: (found: Found | null) => void;
  readonly reject: (error: unknown) => void;
}

export class RunLoader {
  private readonly runs = new TurnBatch<Wanted<Run>>((wanted) => void read(wanted, (ids) => this.store.load(ids)));
  private readonly places = new TurnBatch<Wanted<RunPlace>>(
    (wanted) => void read(wanted, (ids) => this.store.places(ids)),
  );

  constructor(private readonly store: Pick<RunStore, 'load' | 'places'>) {}

  load(runId: RunId): Promise<Run | null> {
    return new Promise((resolve, reject) => this.runs.add({ runId, resolve, reject }));
  }

  place(runId: RunId): Promise<RunPlace | null> {
    return new Promise((resolve, reject) => this.places.add({ runId, resolve, reject }));
  }
}

async function read<Found>(
  wanted: readonly Wanted<Found>[],
  load: (runIds: readonly RunId[]) => Promise<ReadonlyMap<RunId, Found>>,
): Promise<void> {
  try {
    const found = await load([...new Set(wanted.map(({ runId }) => runId))]);
    for (const { runId, resolve } of wanted) resolve(found.get(runId) ?? null);
  } catch (error) {
    for (const { reject } of wanted) reject(error);
  }
}
