// The runs that requests of this gateway wait for or follow: a node is asked to push their changes, and a wait whose
// time is up reads its run once more.

import type { Clock } from '@methods/base/clock';
import type { OrgId, RunId } from '@methods/base/ids';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { RunReply } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { PushedRuns } from './pushed-runs.ts';
import { type RunFollower, RunWaiters, type WaitedRun, type WaitingCaller, type WaitRequest } from './run-waiters.ts';
import type { CallReply } from './scheduler-call.ts';
import type { SchedulerCalls } from './scheduler-calls.ts';
import type { SchedulerNode } from './scheduler-node.ts';

/** The run, its owner, and the request that asks for it. */
export interface RunAddress {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly requestId: string;
}

export interface FollowedRun {
  /** The run as it is now; the follower gets newer states. */
  readonly run: RunView;
  readonly stop: () => void;
}

const FINAL_READ_MS = 2_000;

export class WatchedRuns {
  private readonly waiters: RunWaiters;

  constructor(
    private readonly calls: Pick<SchedulerCalls, 'call'>,
    private readonly pushed: PushedRuns,
    clock: Clock,
  ) {
    this.waiters = new RunWaiters(clock, (run) => void this.watchForWaiters(run));
  }

  /** A pushed state of a run. */
  offer(view: RunView): void {
    this.waiters.offer(view);
  }

  onSourceLost(node: SchedulerNode): void {
    this.waiters.onSourceLost(node);
  }

  get size(): number {
    return this.waiters.size;
  }

  /** Called every 100 ms while there are any. */
  sweep(): void {
    this.waiters.sweep();
  }

  /** Ends every wait, including new ones, with the run as it is. */
  stop(): void {
    this.waiters.stop();
  }

  /** Takes the request's place among the waits before any work for it. */
  async waiting<Done>(
    orgId: OrgId,
    wait: WaitRequest | null,
    caller: WaitingCaller,
    work: () => Promise<Done>,
  ): Promise<Done> {
    if (wait === null) return work();
    const leave = this.waiters.enter(orgId, caller);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Keeps pushed states of the run while `work` runs. */
  async held<Done>({ runId, orgId, requestId }: RunAddress, work: (waited: WaitedRun) => Promise<Done>): Promise<Done> {
    const waited = this.waiters.hold(orgId, runId, requestId);
    try {
      return await work(waited);
    } finally {
      this.waiters.release(waited);
    }
  }

  /** Handles a state that a node replied with, or pushed. */
  see(waited: WaitedRun, view: RunView): void {
    this.waiters.see(waited, view);
  }

  /** The node pushes the run's next rest without a request, since it took its start or an answer. */
  toldBy(waited: WaitedRun, node: SchedulerNode): void {
    waited.source ??= node;
    waited.toldBy.add(node);
  }

  /** Returns the run when it finishes or begins to wait, or as it is when the time is up. */
  async waitOrRead(waited: WaitedRun, wait: WaitRequest, caller: WaitingCaller): Promise<RunView> {
    const ended = await this.waiters.wait(waited, wait, caller);
    if (ended) {
      this.pushed.delivered(ended);
      return ended;
    }
    const latest = waited.latest;
    // The caller has gone and reads no reply.
    if (caller.gone && latest) return latest;
    try {
      const run = await this.read(waited, FINAL_READ_MS);
      return latest && latest.revision > run.revision ? latest : run;
    } catch (error) {
      // The state that this request read before is still a valid answer.
      if (latest && asServiceError(error).code === 'unavailable') return latest;
      throw error;
    }
  }

  async read({ orgId, runId, requestId }: RunAddress, timeoutMs?: number): Promise<RunView> {
    const finished = this.pushed.finished(orgId, runId);
    if (finished) return finished;
    const options = { requestId, repeatable: true, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const value = { $typeName: 'methods.scheduler.v1.GetRun' as const, orgId, runId };
    const run = runOf(replied(await this.calls.call({ case: 'get', value }, options)));
    this.pushed.read(run, orgId);
    return run;
  }

  /** Reports every change from now on, a burst of them as one. The follower may be called before this resolves. */
  async follow(address: RunAddress, follower: RunFollower): Promise<FollowedRun> {
    const { orgId, runId, requestId } = address;
    const finished = this.pushed.finished(orgId, runId);
    if (finished) return { run: finished, stop: () => {} };
    const followed = this.waiters.hold(orgId, runId, requestId);
    const leave = this.waiters.follow(followed, follower);
    let stopped = false;
    const stop = () => {
      if (stopped) return;
      stopped = true;
      leave();
      this.waiters.release(followed);
    };
    try {
      return { run: await this.watch(followed), stop };
    } catch (error) {
      stop();
      throw error;
    }
  }

  async watch(waited: WaitedRun): Promise<RunView> {
    const { orgId, runId, requestId } = waited;
    const steps = waited.followers.size > 0;
    const knownRevision = waited.latest?.revision ?? 0;
    const value = { $typeName: 'methods.scheduler.v1.WatchRun' as const, orgId, runId, steps, knownRevision };
    const reply = await this.calls.call({ case: 'watch', value }, { requestId, repeatable: true });
    const run = runOf(replied(reply));
    waited.source = reply.node;
    waited.watchedOn.add(reply.node);
    this.pushed.belongs(orgId, runId);
    // All its holders have left meanwhile.
    if (waited.holds === 0) reply.node.unwatch(runId);
    this.waiters.see(waited, run);
    return waited.latest ?? run;
  }

  /** Waiters get no failure: the next try follows soon. */
  async watchForWaiters(waited: WaitedRun): Promise<void> {
    try {
      await this.watch(waited);
    } catch {
      this.waiters.watchSoon(waited);
    }
  }
}

export function replied({ item }: CallReply): RunReply {
  if (item.case !== 'run') throw otherReply();
  return item.value;
}

export function otherReply(): ServiceError {
  return new ServiceError('internal', undefined, { cause: new Error('a reply of another kind than asked for') });
}

export function runOf(reply: RunReply): RunView {
  if (!reply.run) throw new ServiceError('internal', undefined, { cause: new Error('a reply without a run') });
  return reply.run;
}
