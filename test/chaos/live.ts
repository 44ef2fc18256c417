// The life of one run from its client's side: start it, meet its question, answer or cancel, and see it end.
import { randomUUID } from 'node:crypto';
import type { ChaosClient } from './chaos-client.ts';
import { isFinished, type Life, type LifeKind, type Operation, type SeenRun } from './history.ts';
import type { Random } from './random.ts';

/** With leases of 6 s, three attempts, faults of 12 s and a machine of two cores. */
const ENDS_WITHIN_MS = 180_000;
const WAIT_MS = 5_000;
/** The deadline of asked-briefly. */
const DEADLINE_MS = 3_000;
const KINDS: readonly LifeKind[] = ['worked', 'worked', 'worked', 'twins', 'asked', 'unanswered', 'raced', 'cancelled'];

const METHODS: Readonly<Record<LifeKind, readonly string[]>> = {
  worked: ['worked', 'computed'],
  twins: ['worked', 'computed'],
  cancelled: ['worked', 'worked', 'computed'],
  asked: ['asked', 'computed-asked'],
  unanswered: ['asked-briefly'],
  raced: ['asked-briefly'],
};

export interface Surroundings {
  readonly client: ChaosClient;
  readonly random: Random;
  /** The file in which steps write down that they ran. */
  readonly ledger: string;
  /** A new path for the webhooks of one run, and its address. */
  webhook(): { readonly path: string; readonly url: string };
  methodId(name: string): string;
}

export async function live(surroundings: Surroundings): Promise<Life> {
  const { random } = surroundings;
  const kind = random.pick(KINDS);
  const webhook = random.chance(0.5) ? surroundings.webhook() : null;
  const answer = kind === 'asked' || kind === 'raced' ? random.whole(1, 1_000_000) : null;
  const story = new Story(surroundings, kind, answer);
  const wrong: string[] = [];
  try {
    await story.tell(webhook?.url ?? null);
  } catch (error) {
    wrong.push(`${kind}: ${error instanceof Error ? error.message : error}`);
  }
  return { kind, webhookPath: webhook?.path ?? null, answer, operations: story.operations, wrong };
}

class Story {
  readonly operations: Operation[] = [];

  constructor(
    private readonly around: Surroundings,
    private readonly kind: LifeKind,
    private readonly answer: number | null,
  ) {}

  async tell(webhookUrl: string | null): Promise<void> {
    const { random } = this.around;
    const run = await this.start(webhookUrl);
    switch (this.kind) {
      case 'cancelled':
        await pause(random.whole(0, 1_500));
        await this.seen(this.around.client.cancel(run.runId));
        break;
      case 'asked': {
        const question = await this.question(run);
        await pause(random.whole(0, 2_000));
        if (question !== null) await this.giveAnswer(run.runId, question);
        break;
      }
      case 'raced': {
        const question = await this.question(run);
        await pause(DEADLINE_MS + random.whole(-400, 200));
        if (question !== null) await this.giveAnswer(run.runId, question);
        break;
      }
      default:
    }
    await this.until(run.runId, ({ status }) => isFinished(status));
  }

  private async start(webhookUrl: string | null): Promise<SeenRun> {
    const { client, random, ledger } = this.around;
    const name = random.pick(METHODS[this.kind]);
    const pauses = METHODS.worked.includes(name) ? { pause_ms: random.chance(0.1) ? random.whole(500, 3_000) : 0 } : {};
    const body = {
      method: this.around.methodId(name),
      inputs: { ledger, ...pauses },
      idempotency_key: randomUUID(),
      ...(webhookUrl === null ? {} : { webhook_url: webhookUrl }),
    };
    const starts = this.kind === 'twins' ? random.whole(2, 4) : 1;
    const [first] = await Promise.all(
      Array.from({ length: starts }, () => this.seen(client.start(body, random.pick([1, WAIT_MS])))),
    );
    if (first?.run == null) throw new Error('the start was refused');
    return first.run;
  }

  /** The open question; null when the run came to its end without one. */
  private async question(run: SeenRun): Promise<string | null> {
    const asked = await this.until(run.runId, ({ status }) => status === 'waiting' || isFinished(status));
    return asked.questionId;
  }

  private async giveAnswer(runId: string, question: string): Promise<void> {
    const { httpStatus } = await this.seen(this.around.client.answer(runId, { n: this.answer }, question));
    if (this.kind === 'asked' && httpStatus >= 300) throw new Error(`${runId}: the answer was refused`);
  }

  private async until(runId: string, condition: (run: SeenRun) => boolean): Promise<SeenRun> {
    const deadline = performance.now() + ENDS_WITHIN_MS;
    for (;;) {
      const { run } = await this.seen(this.around.client.read(runId, WAIT_MS));
      if (run !== null && condition(run)) return run;
      if (performance.now() > deadline) {
        throw new Error(`${runId} is ${run?.status} after ${ENDS_WITHIN_MS / 1_000} s`);
      }
      // A waiting run is a rest of its own: the read of one returns at once.
      if (run?.status === 'waiting') await pause(200);
    }
  }

  private async seen(operation: Promise<Operation>): Promise<Operation> {
    const done = await operation;
    this.operations.push(done);
    return done;
  }
}

/** How long a person or an application takes is part of the story. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
