// What clients, steps, receivers and the database saw while faults struck: the material of the checks.

export type LifeKind = 'worked' | 'twins' | 'asked' | 'unanswered' | 'raced' | 'cancelled';

export interface SeenRun {
  readonly runId: string;
  readonly status: string;
  readonly attempts: number;
  /** As JSON text; null where the run has none. */
  readonly result: string | null;
  readonly errorCode: string | null;
  readonly questionId: string | null;
}

/** One request that got a reply which counts: broken connections and 503 were repeated until then. */
export interface Operation {
  readonly kind: 'start' | 'read' | 'answer' | 'cancel';
  readonly invokedMs: number;
  readonly repliedMs: number;
  readonly httpStatus: number;
  /** Null in a refusal. */
  readonly run: SeenRun | null;
}

/** One run as its client lived through it. */
export interface Life {
  readonly kind: LifeKind;
  readonly webhookPath: string | null;
  /** The number that was answered, where one was. */
  readonly answer: number | null;
  readonly operations: readonly Operation[];
  /** What no client may see, in words. */
  readonly wrong: readonly string[];
}

/** A step that ran, as it wrote down itself. */
export interface Execution {
  readonly runId: string;
  readonly step: string;
  readonly workerPid: number;
  readonly beganMs: number;
  /** Null: it never came to its end. */
  readonly endedMs: number | null;
}

/** The first record of a finished step, as a trigger of the database saw it. */
export interface RecordedStep {
  readonly runId: string;
  readonly step: string;
  readonly recordedMs: number;
}

export interface ReceivedWebhook {
  readonly path: string;
  readonly runId: string;
  readonly event: string;
  readonly seq: number;
  readonly deliveryId: string;
  readonly bodySha256: string;
  readonly signed: boolean;
  /** The receiver's answer. */
  readonly status: number;
}

export interface History {
  readonly lives: readonly Life[];
  readonly executions: readonly Execution[];
  readonly recorded: readonly RecordedStep[];
  /** When a worker process was last known not to exist, by its id. */
  readonly notBeforeMs: ReadonlyMap<number, number>;
  /** In the order of their arrival. */
  readonly webhooks: readonly ReceivedWebhook[];
}

const FINISHED = new Set(['succeeded', 'failed', 'cancelled']);

export function isFinished(status: string): boolean {
  return FINISHED.has(status);
}

/** The run as it was last seen; null when no start was acknowledged. */
export function lastSeen(life: Life): SeenRun | null {
  return life.operations.findLast(({ run }) => run !== null)?.run ?? null;
}

export function groupedBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
