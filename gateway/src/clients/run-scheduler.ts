// The gateway's view of all run-scheduler nodes: it starts, reads, answers and cancels runs, waits for them and follows
// them.

import { Backoff } from '@methods/base/backoff';
import type { Clock } from '@methods/base/clock';
import type { OrgId, QuestionId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type { Actor, AnswerChannel, RunView } from '@methods/proto/run/v1/run_pb';
import {
  type ListRuns,
  type LookupRun,
  type NodeItem,
  type RunPage,
  RunSchedulerService,
  type StartRun,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { dialFrames } from '@methods/rpc/frame-stream';
import { isFinished } from '../views/run-view.ts';
import { FollowedOrganizations } from './followed-organizations.ts';
import { PushedRuns } from './pushed-runs.ts';
import { RunFiles } from './run-files.ts';
import { endsWait, type RunFollower, type WaitingCaller, type WaitRequest } from './run-waiters.ts';
import type { CallReply } from './scheduler-call.ts';
import { type CallOptions, SchedulerCalls } from './scheduler-calls.ts';
import type { CallItem } from './scheduler-node.ts';
import { SchedulerNode } from './scheduler-node.ts';
import { Sweeper } from './sweeper.ts';
import { type FollowedRun, otherReply, type RunAddress, replied, runOf, WatchedRuns } from './watched-runs.ts';

export interface RunSchedulerOptions {
  /** `host:port` of each node. */
  readonly addresses: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface StartedRun {
  readonly run: RunView;
  /** The key is in use: this is its first run. */
  readonly replayed: boolean;
}

export interface GivenAnswer {
  /** Empty: the question that is open. */
  readonly questionId: QuestionId | '';
  readonly answerJson: string;
  readonly actor: Actor;
  readonly channel: AnswerChannel;
  /** Empty: none. */
  readonly comment: string;
}

interface AfterAnswer {
  /** Its `afterQuestion` is the answered question. */
  readonly wait: WaitRequest | null;
  readonly caller: WaitingCaller;
  readonly answered: (run: RunView) => Promise<void> | null;
}

const SWEEP_MS = 100;

export class RunScheduler implements Stoppable {
  private readonly nodes: readonly SchedulerNode[];
  private readonly calls: SchedulerCalls;
  private readonly pushed: PushedRuns;
  private readonly watched: WatchedRuns;
  readonly files: RunFiles;
  readonly organizations: FollowedOrganizations;
  private readonly sweeper: Sweeper;

  constructor({ addresses, clock, logger }: RunSchedulerOptions) {
    this.calls = new SchedulerCalls(clock, () => this.sweeper.wake());
    this.files = new RunFiles(addresses);
    this.pushed = new PushedRuns(clock);
    this.watched = new WatchedRuns(this.calls, this.pushed, clock);
    this.sweeper = new Sweeper(clock, SWEEP_MS, () => this.sweep());
    this.organizations = new FollowedOrganizations(clock);
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
            onStatus: (node) => {
              this.calls.onStatus();
              this.organizations.onStatus(node);
            },
            onUnsendable: (callId, error) => this.calls.onUnsendable(callId, error),
            onLost: (node, callIds, refused) => {
              this.calls.onLost(node, callIds, refused);
              this.watched.onSourceLost(node);
              this.organizations.onLost(node);
            },
          },
        }),
    );
    this.calls.use(this.nodes);
    this.organizations.use(this.nodes);
  }

  start(): void {
    for (const node of this.nodes) node.start();
  }

  /** Ends every wait, including new ones, with the present run. Calls continue. */
  endWaits(): void {
    this.watched.stop();
  }

  stop(): void {
    this.endWaits();
    this.calls.stop();
    this.files.stop();
    for (const node of this.nodes) node.stop();
    this.sweeper.stop();
  }

  /** Reports whether a node is ready and takes new runs. */
  get ready(): boolean {
    return this.nodes.some((node) => node.ready);
  }

  /** With a `wait`, returns the run when it finishes or begins to wait, or when the time is up. */
  async startRun(
    start: StartRun,
    requestId: string,
    wait: WaitRequest | null,
    caller: WaitingCaller,
  ): Promise<StartedRun> {
    const options = { requestId, repeatable: true, unwatched: wait === null };
    return this.watched.waiting(start.orgId, wait, caller, async () => {
      const reply = await this.call({ case: 'start', value: start }, options);
      return this.started(reply, { orgId: start.orgId, requestId }, wait, caller);
    });
  }

  /**
   * Returns the run of a key, or null when it has none. @throws idempotency_conflict if the key belongs to another
   * request.
   */
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
    return this.watched.waiting(orgId, wait, caller, () => this.started(reply, { orgId, requestId }, wait, caller));
  }

  getRun(address: RunAddress): Promise<RunView> {
    return this.watched.read(address);
  }

  /** Returns the run when it finishes or begins to wait, or when the time is up. */
  async waitForRun(address: RunAddress, wait: WaitRequest, caller: WaitingCaller): Promise<RunView> {
    const finished = this.pushed.finished(address.orgId, address.runId);
    if (finished) {
      this.pushed.delivered(finished);
      return finished;
    }
    return this.watched.waiting(address.orgId, wait, caller, () =>
      this.watched.held(address, async (waited) => {
        const run = await this.watched.watch(waited);
        return endsWait(run, wait.afterQuestion) ? run : await this.watched.waitOrRead(waited, wait, caller);
      }),
    );
  }

  /** Reports every change from now on, a burst of them as one. The follower may be called before this resolves. */
  followRun(address: RunAddress, follower: RunFollower): Promise<FollowedRun> {
    return this.watched.follow(address, follower);
  }

  /** Returns the start of a run, as another start; its hash and digest are not filled in. */
  async startOf({ orgId, runId, requestId }: RunAddress): Promise<StartRun> {
    const value = { $typeName: 'methods.scheduler.v1.GetStart' as const, orgId, runId };
    const { item } = await this.call({ case: 'getStart', value }, { requestId, repeatable: true });
    if (item.case !== 'start') throw otherReply();
    return item.value;
  }

  /**
   * An answer without a question id is for the question that is open now: its id is read and stamped, so that a repeat
   * cannot answer the next question. `answered` is called once the answer counts. With a `wait`, returns the run's next
   * rest, or the present run when the time is up.
   */
  async answerRun(
    address: RunAddress,
    { questionId, ...given }: GivenAnswer,
    { wait, caller, answered }: AfterAnswer,
  ): Promise<RunView> {
    const { orgId, runId, requestId } = address;
    return this.watched.waiting(orgId, wait, caller, async () => {
      const stamped: QuestionId | '' = questionId || ((await this.getRun(address)).question?.id ?? '');
      const $typeName = 'methods.scheduler.v1.AnswerRun' as const;
      const value = { $typeName, orgId, runId, questionId: stamped, ...given };
      // A caller who waited for the question here usually waits for the next state: the node then pushes it.
      const unwatched = wait === null && !this.pushed.isAwaited(orgId, runId);
      const options = { requestId, repeatable: stamped !== '', unwatched };
      const answer = async () => {
        const reply = await this.call({ case: 'answer', value }, options);
        const { watched } = replied(reply);
        const run = runOf(replied(reply));
        const told = answered(run);
        if (told) await told;
        return { run, watched, node: reply.node };
      };
      if (wait === null) return (await answer()).run;
      // Held before it is requested: the push may arrive before the reply.
      return this.watched.held(address, async (waited) => {
        const { run, watched, node } = await answer();
        const past = { ...wait, afterQuestion: stamped === '' ? null : stamped };
        this.pushed.belongs(orgId, runId);
        this.watched.see(waited, run);
        if (watched) this.watched.toldBy(waited, node);
        else if (!endsWait(run, past.afterQuestion)) void this.watched.watchForWaiters(waited);
        return this.watched.waitOrRead(waited, past, caller);
      });
    });
  }

  async cancelRun({ orgId, runId, requestId }: RunAddress): Promise<RunView> {
    const value = { $typeName: 'methods.scheduler.v1.CancelRun' as const, orgId, runId };
    return runOf(replied(await this.call({ case: 'cancel', value }, { requestId, repeatable: true })));
  }

  /** Newest first, without steps and content. @throws invalid_request for a cursor of another list */
  async listRuns(list: ListRuns, requestId: string): Promise<RunPage> {
    const { item } = await this.call({ case: 'list', value: list }, { requestId, repeatable: true });
    if (item.case !== 'page') throw otherReply();
    return item.value;
  }

  private call(item: CallItem, options: CallOptions): Promise<CallReply> {
    return this.calls.call(item, options);
  }

  private async started(
    call: CallReply,
    { orgId, requestId }: { orgId: OrgId; requestId: string },
    wait: WaitRequest | null,
    caller: WaitingCaller,
  ): Promise<StartedRun> {
    const reply = replied(call);
    const run = runOf(reply);
    const { replayed } = reply;
    if (wait === null) return { run, replayed };
    // Even if the run is waiting: its caller usually waits for what follows the answer.
    if (!isFinished(run)) this.pushed.belongs(orgId, run.runId);
    if (endsWait(run, wait.afterQuestion)) return { run, replayed };
    return this.watched.held({ runId: run.runId, orgId, requestId }, async (waited) => {
      // The node that took a new run pushes it; an older run must be watched.
      if (replayed) waited.source ??= call.node;
      else this.watched.toldBy(waited, call.node);
      this.watched.see(waited, run);
      const pushed = this.pushed.latest(run.runId);
      if (pushed) this.watched.see(waited, pushed);
      if (replayed) this.watched.see(waited, await this.watched.watch(waited));
      return { run: await this.watched.waitOrRead(waited, wait, caller), replayed };
    });
  }

  private onItem(node: SchedulerNode, item: NodeItem): void {
    if (item.item.case === 'news') return this.organizations.onNews(node, item.item.value);
    if (item.item.case !== 'push') {
      this.calls.onItem(node, item);
      return;
    }
    this.sweeper.wake();
    this.pushed.put(item.item.value);
    this.watched.offer(item.item.value);
  }

  /** A wait begins with a call, so nothing becomes overdue while there is no call, no wait and no cached view. */
  private sweep(): boolean {
    this.calls.sweep();
    this.watched.sweep();
    this.pushed.trim();
    return this.calls.size > 0 || this.watched.size > 0 || this.pushed.bytes > 0;
  }
}
