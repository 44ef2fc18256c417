// Sends a claimed run to the worker it was claimed for, directly or through the worker's node: after the commit, or
// before it if the run only computes. From here on the run has a lease.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { faultPoint } from '@methods/base/fault-point';
import type { OrgId, RunId } from '@methods/base/ids';
import { TurnBatch } from '@methods/base/turn-batch';
import type { Logger } from '@methods/logging/logger';
import type { AnswerSchema, GrantSchema } from '@methods/proto/worker/v1/worker_service_pb';
import type { Effect } from '../run/decision.ts';
import type { AcceptedAnswer, Run, RunningRun, StepSummary } from '../run/run.ts';
import type { KeptStep, RunStore } from '../store/run-store.ts';
import { stepStatusNumber } from '../wire/run-message.ts';
import type { LeaseTable } from './lease-table.ts';

type GrantMessage = MessageInitShape<typeof GrantSchema>;

/** Kept steps are sent in one message with the grant; larger data belongs in files. */
const KEPT_BYTES_MAX = 3.5 * 1024 * 1024;
/** An upper bound of the bytes around a text in a message. */
const FIELD_BYTES = 16;

interface GrantAddress {
  readonly nodeId: string;
  readonly creditId: number;
}

export interface DeliveredGrant extends GrantAddress {
  readonly workerSession: string;
  readonly shard: number;
  readonly orgId: OrgId;
  readonly grant: GrantMessage & { runId: RunId; token: string };
}

export class GrantDesk {
  private readonly addresses = new Map<string, GrantAddress>();
  /** Runs that are granted and not yet committed. */
  private readonly early = new Map<string, RunId>();
  private readonly keptSteps: KeptStepReads;

  constructor(
    private readonly options: {
      readonly store: Pick<RunStore, 'keptSteps' | 'keptStepsOf'>;
      readonly leases: LeaseTable;
      readonly returnGrant: (runId: RunId, token: string) => void;
      /** Called when no grant can carry the run's kept steps, so the run ends. */
      readonly tooLarge: (runId: RunId, token: string) => void;
      readonly epochOf: (shard: number) => number | null;
      /** Returns false if the node is not reachable. */
      readonly deliver: (grant: DeliveredGrant) => boolean;
      readonly logger: Logger;
    },
  ) {
    this.keptSteps = new KeptStepReads(options.store);
  }

  /** Announces the offer behind a claim that is about to be made. */
  expect(token: string, address: GrantAddress): void {
    this.addresses.set(token, address);
  }

  /** Reports whether a claim with this token has begun and is not decided yet. */
  expects(token: string): boolean {
    return this.addresses.has(token);
  }

  /**
   * Ends the lease of a run that was granted before its commit and was not committed. Returns true if there was one.
   */
  forget(token: string): boolean {
    this.addresses.delete(token);
    const runId = this.early.get(token);
    if (runId === undefined) return false;
    this.early.delete(token);
    this.options.leases.ended(runId, token);
    return true;
  }

  /** Its commit follows; without the commit, the worker's reports are refused. */
  grantEarly(run: RunningRun): void {
    const address = this.addresses.get(run.token);
    if (address === undefined) return;
    this.early.set(run.token, run.facts.runId);
    this.send(run, address);
    faultPoint('granted-early');
  }

  committed(_before: Run | null, after: Run, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type !== 'grant') continue;
      const address = this.addresses.get(effect.token);
      this.addresses.delete(effect.token);
      if (this.early.delete(effect.token)) continue;
      faultPoint('claim-committed');
      // A run that changed further in the same commit no longer needs a grant.
      if (after.status !== 'running' || after.token !== effect.token) continue;
      if (address === undefined) this.options.returnGrant(after.facts.runId, after.token);
      else this.send(after, address);
    }
  }

  private send(run: RunningRun, address: GrantAddress): void {
    const { runId, shard } = run.facts;
    this.options.leases.add({
      runId,
      shard,
      token: run.token,
      session: run.workerSession,
      nodeId: address.nodeId,
      accepted: false,
      cancelAskedAtMs: null,
    });
    if (run.steps.length === 0) return this.deliver(run, address, []);
    this.keptSteps.of(run.facts.orgId, runId).then(
      (steps) => this.deliver(run, address, steps),
      (error) => {
        this.options.logger.warn({ error, run: runId }, 'kept steps could not be read');
        this.undeliverable(run);
      },
    );
  }

  private deliver(run: RunningRun, address: GrantAddress, steps: readonly KeptStep[]): void {
    const { facts } = run;
    const bytesLeft = steps.reduce(
      (left, step) => left - bytesOf(step.path, step.outJson ?? ''),
      KEPT_BYTES_MAX - bytesOf(facts.inputsJson),
    );
    if (bytesLeft < 0) return this.options.tooLarge(facts.runId, run.token);
    const delivered = this.options.deliver({
      nodeId: address.nodeId,
      creditId: address.creditId,
      workerSession: run.workerSession,
      shard: facts.shard,
      orgId: facts.orgId,
      grant: {
        runId: facts.runId,
        method: facts.method,
        versionId: facts.versionId,
        attempt: run.attempts,
        token: run.token,
        inputsJson: facts.inputsJson,
        finishedSteps: finishedSteps(steps, run.steps, bytesLeft),
        ...(run.answer === null ? {} : { answer: answerMessage(run.answer) }),
        folderId: run.folderId ?? '',
        startedAtMs: run.startedAtMs ?? 0,
        runningMs: run.spans.runningMs,
        ...(run.ending === null ? {} : { ending: run.ending.error }),
        ...(facts.contentId === null ? {} : { contentId: facts.contentId, deviceKeyId: facts.keyId }),
        orgId: facts.orgId,
        epoch: this.options.epochOf(facts.shard) ?? 0,
      },
    });
    if (!delivered) this.undeliverable(run);
  }

  private undeliverable(run: RunningRun): void {
    this.options.returnGrant(run.facts.runId, run.token);
  }
}

function answerMessage(answer: AcceptedAnswer): MessageInitShape<typeof AnswerSchema> {
  const { questionId, step, answerJson, deadlineAtMs, timedOut = false } = answer;
  return { questionId, step, answerJson, deadlineAtMs: deadlineAtMs ?? 0, timedOut };
}

/**
 * Includes the errors of failed steps while there is room: most of them were tolerated and no longer matter, and a
 * thousand long ones must not end a run that could continue.
 */
function finishedSteps(steps: readonly KeptStep[], summaries: readonly StepSummary[], bytesLeft: number) {
  const errors = new Map(summaries.map(({ path, error }) => [path, error]));
  let left = bytesLeft;
  return steps.map(({ path, status, outJson, outWithheld }) => {
    const end = { path, status: stepStatusNumber(status), outJson: outJson ?? '', outWithheld };
    const error = errors.get(path);
    if (!error) return end;
    left -= bytesOf(error.message);
    return left < 0 ? end : { ...end, error: { ...error } };
  });
}

function bytesOf(...texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + FIELD_BYTES + Buffer.byteLength(text), 0);
}

const RUNS_MAX = 64;

interface Wanted {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly resolve: (steps: readonly KeptStep[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines reads of kept steps by turn: runs claimed in one commit share one statement. Runs whose steps do not fit
 * into it are read separately, one at a time.
 */
export class KeptStepReads {
  private readonly wanted = new TurnBatch<Wanted>((wanted) => void this.read(wanted), RUNS_MAX);

  constructor(private readonly store: Pick<RunStore, 'keptSteps' | 'keptStepsOf'>) {}

  /** Returns finished steps with their outs, in order. */
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
