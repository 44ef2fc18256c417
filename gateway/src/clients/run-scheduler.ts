// The gateway's view of all run-scheduler nodes: start, read, answer and cancel runs, wait for them and follow them.
import { Backoff } from '@methods/base/backoff';
import type { Clock } from '@methods/base/clock';
import type { Stoppable } from '@methods/base/stoppable';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import {
  type ListRuns,
  type LookupRun,
  type NodeItem,
  type RunPage,
  type RunReply,
  RunSchedulerService,
  type StartRun,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { dialFrames } from '@methods/rpc/frame-stream';
import { PushedRuns } from './pushed-runs.ts';
import { RunFiles } from './run-files.ts';
import {
  endsWait,
  type RunFollower,
  RunWaiters,
  type WaitedRun,
  type WaitingCaller,
  type WaitRequest,
} from './run-waiters.ts';
import type { CallReply } from './scheduler-call.ts';
import { type CallOptions, SchedulerCalls } from './scheduler-calls.ts';
import type { CallItem } from './scheduler-node.ts';
import { SchedulerNode } from './scheduler-node.ts';

export interface RunSchedulerOptions {
  /** `host:port` of each node. */
  readonly addresses: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Whose run, and for which request. */
export interface RunAddress {
  readonly orgId: string;
  readonly runId: string;
  readonly requestId: string;
}

export interface StartedRun {
  readonly run: RunView;
  /** The key's first run, met again. */
  readonly replayed: boolean;
}

export interface FollowedRun {
  /** As it is now; the follower gets newer states. */
  readonly run: RunView;
  readonly stop: () => void;
}

const SWEEP_MS = 100;
const FINAL_READ_MS = 2_000;

export class RunScheduler implements Stoppable {
  private readonly nodes: readonly SchedulerNode[];
  private readonly calls: SchedulerCalls;
  private readonly pushed: PushedRuns;
  private readonly waiters: RunWaiters;
  readonly files: RunFiles;
  private sweeper: NodeJS.Timeout | null = null;

  constructor({ addresses, clock, logger }: RunSchedulerOptions) {
    this.calls = new SchedulerCalls(clock);
    this.files = new RunFiles(addresses);
    this.pushed = new PushedRuns(clock);
    this.waiters = new RunWaiters(clock, (run) => void this.watchForWaiters(run));
    this.nodes = addresses.map(
      (address) =>
        new SchedulerNode({
          address,
          dial: (handlers) => dialFrames(RunSchedulerService.method.exchange, address, handlers),
          clock,
          backoff: new Backoff({ firstMs: 50, maxMs: 1_000, jitter: 0.5 }),
          logger,
          events: {
            onItem: (node, item) => this.onItem(node, item),
            onStatus: () => this.calls.onStatus(),
            onUnsendable: (callId, error) => this.calls.onUnsendable(callId, error),
            onLost: (node, callIds, refused) => {
              this.calls.onLost(node, callIds, refused);
              this.waiters.onSourceLost(node);
            },
          },
        }),
    );
    this.calls.use(this.nodes);
  }

  start(): void {
    for (const node of this.nodes) node.start();
    this.sweeper = setInterval(() => {
      this.calls.sweep();
      this.waiters.sweep();
      this.pushed.trim();
    }, SWEEP_MS);
    this.sweeper.unref();
  }

  /** Every wait gets the run as it is; new ones too. Calls continue. */
  endWaits(): void {
    this.waiters.stop();
  }

  stop(): void {
    this.endWaits();
    this.calls.stop();
    this.files.stop();
    for (const node of this.nodes) node.stop();
    if (this.sweeper) clearInterval(this.sweeper);
  }

  /** A node says it is ready and takes new runs. */
  get ready(): boolean {
    return this.nodes.some((node) => node.ready);
  }

  /** With a `wait`, the run as it finishes or begins to wait, or as it is when the time is up. */
  async startRun(
    start: StartRun,
    requestId: string,
    wait: WaitRequest | null,
    caller: WaitingCaller,
  ): Promise<StartedRun> {
    const options = { requestId, repeatable: true, unwatched: wait === null };
    return this.waiting(start.orgId, wait, caller, async () => {
      const reply = await this.call({ case: 'start', value: start }, options);
      return this.started(reply, { orgId: start.orgId, requestId }, wait, caller);
    });
  }

  /** The key's run, or null when it has none. @throws idempotency_conflict for another request's key. */
  async lookupRun(
    lookup: LookupRun,
    requestId: string,
    wait: WaitRequest | null,
    caller: WaitingCaller,
  ): Promise<StartedRun | null> {
    let reply: CallReply;
    try {
      reply = await this.call({ case: 'lookup', value: lookup }, { requestId, repeatable: true });
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return null;
      throw error;
    }
    const { orgId } = lookup;
    return this.waiting(orgId, wait, caller, () => this.started(reply, { orgId, requestId }, wait, caller));
  }

  async getRun({ orgId, runId, requestId }: RunAddress, timeoutMs?: number): Promise<RunView> {
    const finished = this.pushed.finished(runId, orgId);
    if (finished) return finished;
    const options = { requestId, repeatable: true, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const value = { $typeName: 'methods.scheduler.v1.GetRun' as const, orgId, runId };
    const run = runOf(replied(await this.call({ case: 'get', value }, options)));
    this.pushed.read(run, orgId);
    return run;
  }

  /** The run as it finishes or begins to wait, or as it is when the time is up. */
  async waitForRun(address: RunAddress, wait: WaitRequest, caller: WaitingCaller): Promise<RunView> {
    const finished = this.pushed.finished(address.runId, address.orgId);
    if (finished) return finished;
    return this.waiting(address.orgId, wait, caller, async () => {
      const waited = this.waiters.hold(address.runId, address.orgId, address.requestId);
      try {
        const run = await this.watch(waited);
        return endsWait(run, wait.afterQuestion) ? run : await this.waitOrRead(waited, wait, caller);
      } finally {
        this.waiters.release(waited);
      }
    });
  }

  /** Every change from now on, a burst of them as one. The follower may be called before this resolves. */
  async followRun(address: RunAddress, follower: RunFollower): Promise<FollowedRun> {
    const { orgId, runId, requestId } = address;
    const finished = this.pushed.finished(runId, orgId);
    if (finished) return { run: finished, stop: () => {} };
    const followed = this.waiters.hold(runId, orgId, requestId);
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

  /** The start of a run, as another start; its hash and digest are yet to be filled in. */
  async startOf({ orgId, runId, requestId }: RunAddress): Promise<StartRun> {
    const value = { $typeName: 'methods.scheduler.v1.GetStart' as const, orgId, runId };
    const { item } = await this.call({ case: 'getStart', value }, { requestId, repeatable: true });
    if (item.case !== 'start') throw otherReply();
    return item.value;
  }

  /**
   * Without a question id the answer is meant for the question that is open now: its id is read and stamped, so that a
   * repeat cannot answer the next question.
   */
  async answerRun(address: RunAddress, questionId: string, answerJson: string): Promise<RunView> {
    const { orgId, runId, requestId } = address;
    const stamped = questionId || ((await this.getRun(address)).question?.id ?? '');
    const $typeName = 'methods.scheduler.v1.AnswerRun' as const;
    const value = { $typeName, orgId, runId, questionId: stamped, answerJson };
    // A caller who waited for the question here usually waits for the next state: the node then pushes it.
    const unwatched = !this.pushed.isAwaited(runId, orgId);
    const options = { requestId, repeatable: stamped !== '', unwatched };
    return runOf(replied(await this.call({ case: 'answer', value }, options)));
  }

  async cancelRun({ orgId, runId, requestId }: RunAddress): Promise<RunView> {
    const value = { $typeName: 'methods.scheduler.v1.CancelRun' as const, orgId, runId };
    return runOf(replied(await this.call({ case: 'cancel', value }, { requestId, repeatable: true })));
  }

  /** Newest first; the runs without steps and content. @throws invalid_request for a cursor of another list */
  async listRuns(list: ListRuns, requestId: string): Promise<RunPage> {
    const { item } = await this.call({ case: 'list', value: list }, { requestId, repeatable: true });
    if (item.case !== 'page') throw otherReply();
    return item.value;
  }

  private call(item: CallItem, options: CallOptions): Promise<CallReply> {
    return this.calls.call(item, options);
  }

  /** Takes the request's place among the waits before anything is done for it. */
  private async waiting<Done>(
    orgId: string,
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

  private async started(
    call: CallReply,
    { orgId, requestId }: { orgId: string; requestId: string },
    wait: WaitRequest | null,
    caller: WaitingCaller,
  ): Promise<StartedRun> {
    const reply = replied(call);
    const run = runOf(reply);
    const { replayed } = reply;
    if (wait === null || endsWait(run, wait.afterQuestion)) return { run, replayed };
    this.pushed.belongs(run.runId, orgId);
    const waited = this.waiters.hold(run.runId, orgId, requestId);
    try {
      // A fresh run is pushed by the node that took it; an older one has to be watched.
      waited.source ??= call.node;
      if (!replayed) waited.startedOn = call.node;
      this.waiters.see(waited, run);
      const pushed = this.pushed.latest(run.runId);
      if (pushed) this.waiters.see(waited, pushed);
      if (replayed) this.waiters.see(waited, await this.watch(waited));
      return { run: await this.waitOrRead(waited, wait, caller), replayed };
    } finally {
      this.waiters.release(waited);
    }
  }

  private async waitOrRead(waited: WaitedRun, wait: WaitRequest, caller: WaitingCaller): Promise<RunView> {
    const ended = await this.waiters.wait(waited, wait, caller);
    if (ended) return ended;
    const latest = waited.latest;
    // No one reads the reply of a caller that has gone.
    if (caller.gone && latest) return latest;
    try {
      const run = await this.getRun(waited, FINAL_READ_MS);
      return latest && latest.revision > run.revision ? latest : run;
    } catch (error) {
      // The state this request has read before is still a valid answer.
      if (latest && asServiceError(error).code === 'unavailable') return latest;
      throw error;
    }
  }

  private async watch(waited: WaitedRun): Promise<RunView> {
    const { orgId, runId, requestId } = waited;
    const steps = waited.followers.size > 0;
    const knownRevision = waited.latest?.revision ?? 0;
    const value = { $typeName: 'methods.scheduler.v1.WatchRun' as const, orgId, runId, steps, knownRevision };
    const reply = await this.call({ case: 'watch', value }, { requestId, repeatable: true });
    const run = runOf(replied(reply));
    waited.source = reply.node;
    waited.watchedOn.add(reply.node);
    this.pushed.belongs(runId, orgId);
    // All its holders have left meanwhile.
    if (waited.holds === 0) reply.node.unwatch(runId);
    this.waiters.see(waited, run);
    return waited.latest ?? run;
  }

  // Waiters do not get a failure: the next try comes soon.
  private async watchForWaiters(waited: WaitedRun): Promise<void> {
    try {
      await this.watch(waited);
    } catch {
      this.waiters.watchSoon(waited);
    }
  }

  private onItem(node: SchedulerNode, item: NodeItem): void {
    if (item.item.case !== 'push') {
      this.calls.onItem(node, item);
      return;
    }
    this.pushed.put(item.item.value);
    this.waiters.offer(item.item.value);
  }
}

function replied({ item }: CallReply): RunReply {
  if (item.case !== 'run') throw otherReply();
  return item.value;
}

function otherReply(): ServiceError {
  return new ServiceError('internal', undefined, { cause: new Error('a reply of another kind than asked for') });
}

function runOf(reply: RunReply): RunView {
  if (!reply.run) throw new ServiceError('internal', undefined, { cause: new Error('a reply without a run') });
  return reply.run;
}
