// A worker: claims runs of its methods over one stream, executes several at a time, reports their progress, and lets go
// of them when it must stop.
import { hostname } from 'node:os';
import { type ProductionId, type RunId, randomToken } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import { type PreparedDependencies, prepareDependencies } from '@methods/executor/dependencies/prepare-dependencies';
import { type Isolation, isolationLevel, NO_SANDBOX } from '@methods/executor/isolation';
import { RunnerPool } from '@methods/executor/runner-pool';
import { refuseUnreadableCode } from '@methods/executor/unreadable-code';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { Grant, SchedulerItem } from '@methods/proto/worker/v1/worker_service_pb';
import { DeviceKeys, type KeyFacts } from './content/device-keys.ts';
import { contentOf } from './content/granted-content.ts';
import { Emptied } from './emptied.ts';
import { FreePlaces } from './free-places.ts';
import { HeldRun } from './held-run.ts';
import { NextTick } from './next-tick.ts';
import { RunFolderTransfer } from './run-folder-transfer.ts';
import { RunReports } from './run-reports.ts';
import { NodeClients, SchedulerLink, type WorkerItem } from './scheduler-link.ts';
import { VersionCache } from './version-cache.ts';
import type { VersionServer } from './version-preparation.ts';
import { WorkFolder } from './work-folder.ts';
import { workerFeatures } from './worker-features.ts';
import type { WorkerOptions } from './worker-options.ts';

const SDK = `methods-worker/0.1.0 node/${process.versions.node}`;
/**
 * A node accepts this many more runs in a heartbeat than a worker can hold. Runs beyond it wait for the end of their
 * lease.
 */
const STOPPED_MAX = 100;
const TICK_MS = 500;
const DRAIN_MS = 25_000;
const GIVE_BACK_MS = 3_000;
/** Until the scheduler sends other values. */
const DEFAULT_HEARTBEAT_MS = 15_000;
const DEFAULT_LEASE_MS = 60_000;

export class Worker implements Stoppable {
  readonly id = randomToken();
  readonly places: FreePlaces;
  private readonly deviceKeys: DeviceKeys;
  private readonly held = new Map<string, HeldRun>();
  private readonly link: SchedulerLink;
  private readonly runners: RunnerPool;
  private readonly versions: VersionCache;
  private readonly folders: RunFolderTransfer;
  private readonly workFolder: WorkFolder;
  private readonly clients: NodeClients;
  /** Aborted when no installation is needed any more. */
  private readonly installs = new AbortController();
  /** What separates its steps from the machine. */
  readonly isolation: Isolation;
  private features: readonly string[] = [];
  private readonly nextTick: NextTick;
  /** Runs that are to stop and were stopped before, until a heartbeat names them. */
  private readonly stopped = new Map<string, { readonly runId: RunId; readonly token: string }>();
  private heartbeatMs = DEFAULT_HEARTBEAT_MS;
  private leaseMs = DEFAULT_LEASE_MS;
  private nextHeartbeatMs = 0;
  private heardAtMs = 0;
  private draining = false;
  private methods: readonly ProductionId[];
  /** No more grants can arrive. */
  private left = false;
  private readonly emptied: Emptied;

  constructor(private readonly options: WorkerOptions) {
    const { clock, logger, addresses, concurrency, dataDir, path, renewedToken } = options;
    this.methods = options.methods;
    this.deviceKeys = new DeviceKeys(options.contentPart);
    this.emptied = new Emptied(clock, () => this.held.size === 0 && this.left);
    const announce = (count: number) => this.link.send({ item: { case: 'credits', value: { count } } });
    this.places = new FreePlaces(concurrency, announce);
    this.isolation = options.sandbox ? isolationLevel(path) : NO_SANDBOX;
    this.nextTick = new NextTick(clock, () => this.tick());
    this.clients = new NodeClients(() => this.link.authorization);
    this.workFolder = new WorkFolder(dataDir);
    const { dir: folder } = this.workFolder;
    this.runners = new RunnerPool({ folder, runnersMax: concurrency, path, clock, isolation: this.isolation });
    const server: VersionServer = {
      getVersion: (request) => this.clients.at(this.link.address).getVersion(request),
      putLock: (request) => this.clients.at(this.link.address).putLock(request),
    };
    this.versions = new VersionCache(server, (method, lock) => this.prepare(method, lock), clock);
    this.folders = new RunFolderTransfer(() => this.clients.at(this.link.address));
    this.link = new SchedulerLink({
      addresses,
      authorization: `Bearer ${options.authPart}`,
      renewed: renewedToken === undefined ? undefined : async (refused) => `Bearer ${await renewedToken(refused)}`,
      clock,
      logger,
      hello: (streamNumber) => this.hello(streamNumber),
      onItems: (items) => this.received(items),
      // Grants on their way are lost with their stream and queued again, since the next hello does not name them.
      onDown: () => this.hasLeft(),
    });
  }

  /** Resolves when the worker has begun to look for a node. */
  async start(): Promise<void> {
    const { clock, logger, path } = this.options;
    this.workFolder.start();
    this.runners.start();
    logger.info({}, this.isolation.text);
    this.workFolder.removeAbandoned().catch((error: unknown) => {
      logger.warn({ err: error }, 'folders of ended workers were not removed');
    });
    this.features = await workerFeatures(path, this.runners.pythons);
    // The worker was stopped meanwhile.
    if (this.draining) return;
    this.heardAtMs = clock.monotonicMs();
    this.link.start();
    this.tick();
  }

  /** The worker's methods from now on. A stream has those of its hello, so another one begins; held runs continue. */
  serve(methods: readonly ProductionId[]): void {
    this.methods = methods;
    this.link.greetAgain();
  }

  /** Accepts no more grants; each run ends or is given back after its present step. */
  async stop(): Promise<void> {
    this.draining = true;
    this.places.leave();
    this.leave();
    const { clock, drainMs = DRAIN_MS } = this.options;
    const interrupt = clock.after(drainMs, () => {
      for (const run of this.held.values()) run.interrupt();
    });
    await this.emptied.within(drainMs + GIVE_BACK_MS);
    interrupt.cancel();
    this.installs.abort();
    this.nextTick.stop();
    this.link.stop();
    this.clients.close();
    await this.runners.stop();
    await this.workFolder.stop();
  }

  private async prepare(method: CompiledMethod, lock: Uint8Array | undefined): Promise<PreparedDependencies> {
    const { cacheDir, allowInstallScripts: allowScripts, path, secrets: host, clock } = this.options;
    const { signal } = this.installs;
    const { pythons } = this.runners;
    const options = { cacheDir, allowScripts, path, host, pythons, clock, signal, ...(lock && { lock }) };
    const prepared = await prepareDependencies(method, options);
    const { pythonCommand } = prepared.environment;
    await refuseUnreadableCode(method, { path, pythonCommand });
    return prepared;
  }

  /** Asks for no more grants. Grants already sent still arrive and are given back. */
  private leave(): void {
    if (!this.link.send({ item: { case: 'leave', value: {} } })) this.left = true;
  }

  private hasLeft(): void {
    if (!this.draining) return;
    this.left = true;
    this.emptied.check();
  }

  private hello(streamNumber: number): WorkerItem {
    const { concurrency } = this.options;
    const held = [...this.held.values()].map(({ grant }) => ({ runId: grant.runId, token: grant.token }));
    const value = {
      workerId: this.id,
      streamNumber,
      methods: [...this.methods],
      slots: concurrency,
      features: [...this.features],
      sdk: SDK,
      name: this.options.name ?? '',
      host: hostname(),
      held,
      ...this.deviceKeys.named,
    };
    return { item: { case: 'hello', value } };
  }

  private received(items: readonly SchedulerItem[]): void {
    this.heardAtMs = this.options.clock.monotonicMs();
    for (const { item } of items) {
      switch (item.case) {
        case 'welcome':
          this.welcomed(item.value);
          break;
        case 'grant':
          this.granted(item.value);
          break;
        case 'ack':
          this.heldBy(item.value.runId, item.value.token)?.reports.acknowledged(item.value.seq);
          break;
        case 'refused':
          this.refused(item.value);
          break;
        case 'cancel':
          this.nameAgain(item.value);
          this.cancelled([item.value]);
          break;
        case 'heartbeatReply':
          this.cancelled(item.value.cancelled);
          for (const { runId, token } of item.value.stale) this.heldBy(runId, token)?.take();
          break;
        case 'left':
          this.hasLeft();
          break;
        case 'drain':
          this.link.moveOn();
          break;
      }
    }
  }

  private welcomed(welcome: KeyFacts & { heartbeatMs: number; leaseMs: number }): void {
    // The next hello names the keys: their runs are offered from then on.
    if (this.deviceKeys.learn(welcome, this.options.logger)) return this.link.greetAgain();
    this.heartbeatMs = welcome.heartbeatMs || DEFAULT_HEARTBEAT_MS;
    this.leaseMs = welcome.leaseMs || DEFAULT_LEASE_MS;
    this.nextHeartbeatMs = this.options.clock.monotonicMs() + this.heartbeatMs;
    this.tickSoon();
    for (const run of this.held.values()) run.reports.repeatAll();
    this.places.announceAll();
    this.options.onConnected?.();
  }

  private granted(grant: Grant): void {
    const known = this.held.get(grant.runId);
    if (known?.grant.token === grant.token) return;
    known?.take();
    const content = contentOf(grant, this.deviceKeys, this.link);
    if (content === null) return this.places.take()();
    const { clock, logger, secrets, fetch } = this.options;
    const run = new HeldRun(content, new RunReports(this.link, clock, content.sent), {
      versions: this.versions,
      folders: this.folders,
      runners: this.runners,
      secrets,
      fetch,
      baseDir: this.workFolder.dir,
      clock,
      draining: () => this.places.areClosed,
      startsToldAfterMs: this.options.startsToldAfterMs,
      onResult: this.options.onResult,
      onResultMade: this.options.onResultMade,
    });
    this.held.set(grant.runId, run);
    this.tickSoon();
    const free = this.places.take();
    // Frees the place once the run's end is sent: the next grant need not wait for the acknowledgement.
    const reported = () => {
      if (this.held.size <= 2 * this.options.concurrency) free();
    };
    run.execute(reported).then(
      (end) => this.ended(run, end, free),
      (error: unknown) => {
        logger.error({ err: error, run: grant.runId }, 'run left to its lease');
        // An attempt that is not counted would be granted again without end.
        this.accept(run);
        this.ended(run, 'lost', free);
      },
    );
  }

  private ended(run: HeldRun, end: string, free: () => void): void {
    const { runId, attempt } = run.grant;
    if (this.held.get(runId) === run) this.held.delete(runId);
    this.options.logger.debug({ run: runId, attempt, end }, 'run ended here');
    this.options.onRunEnded?.(run.grant, end);
    free();
    if (this.draining) this.emptied.check();
  }

  private refused(refused: { runId: RunId; seq: number; code: string; message: string; token: string }): void {
    const run = this.heldBy(refused.runId, refused.token);
    if (run === undefined) return;
    this.options.logger.warn({ run: refused.runId, code: refused.code }, 'report refused');
    run.refused(refused.seq, refused.code, refused.message);
  }

  private cancelled(runs: readonly { runId: RunId; token: string }[]): void {
    const ours = runs.flatMap(({ runId, token }) => this.heldBy(runId, token) ?? []);
    if (ours.length === 0) return;
    // The owner ends the run with this heartbeat, which must still name the run.
    this.heartbeat();
    for (const run of ours) run.take();
  }

  /**
   * A run that was stopped before is named in the next heartbeat: its owner asks again, so it died before it got the
   * first one. Only then, a moment later: an owner that has no database asks after each heartbeat.
   */
  private nameAgain({ runId, token }: { runId: RunId; token: string }): void {
    if (this.heldBy(runId, token) !== undefined || this.stopped.size >= STOPPED_MAX) return;
    this.stopped.set(token, { runId, token });
    this.tickSoon();
  }

  private heldBy(runId: RunId, token: string): HeldRun | undefined {
    const run = this.held.get(runId);
    return run?.grant.token === token ? run : undefined;
  }

  private heartbeat(): void {
    const held = [...this.held.values()].map(({ grant }) => ({ runId: grant.runId, token: grant.token }));
    const runs = [...held, ...this.stopped.values()];
    this.stopped.clear();
    this.nextHeartbeatMs = this.options.clock.monotonicMs() + this.heartbeatMs;
    for (const run of this.held.values()) run.acceptanceTold = true;
    this.link.send({ item: { case: 'heartbeat', value: { runs } } });
    void this.workFolder.touch();
  }

  private tick(): void {
    const nowMs = this.options.clock.monotonicMs();
    if (nowMs >= this.nextHeartbeatMs || this.stopped.size > 0) this.heartbeat();
    for (const run of this.held.values()) {
      run.reports.repeatOverdue();
      this.accept(run);
    }
    // No message for a whole lease: other workers hold these runs by now.
    if (nowMs - this.heardAtMs > this.leaseMs) for (const run of this.held.values()) run.take();
    this.tickSoon();
  }

  /** Reports that the grant arrived, unless a message has named the run since. */
  private accept(run: HeldRun): void {
    if (run.acceptanceTold) return;
    run.acceptanceTold = true;
    const { runId, token } = run.grant;
    this.link.send({ item: { case: 'accepted', value: { runId, token } } });
  }

  /** Without a run only the next heartbeat is due. */
  private tickSoon(): void {
    const untilHeartbeatMs = this.nextHeartbeatMs - this.options.clock.monotonicMs();
    this.nextTick.within(this.held.size + this.stopped.size > 0 ? TICK_MS : Math.max(TICK_MS, untilHeartbeatMs));
  }
}
