// The worker in the process of the application, for the runs that it waits for: one thread of a client, started by its
// first `run` and stopped a while after its last. Only a run that is waited for keeps the process alive.
import type { Worker as Thread } from 'node:worker_threads';
import { beforeExit } from './before-exit.ts';
import { workerEnvironment } from './config.ts';
import type { Credential } from './credential.ts';
import type { DebugLog } from './requests.ts';
import type { Run } from './run.ts';
import { workerCode } from './worker-code.ts';

const CONCURRENCY = 10;
/** The server accepts this many of one worker. */
const METHODS_MAX = 1_000;
/** A call that follows at once needs no word to the worker. */
const REST_MS = 50;
/** A start costs a second. */
const IDLE_MS = 10_000;
const BEARER_MS = 15_000;
/** The worker has 5 s for the present steps of others, and gives their runs back. */
const EXIT_MS_MAX = 8_000;
/** Runs of other callers are executed too, and no one asks for their results. */
const MADE_MAX = 100;
const RESTART_MS = 1_000;
const RESTART_MS_MAX = 60_000;

/** Words of libs/worker/src/in-app. */
type Order =
  | {
      readonly order: 'start';
      readonly server: string;
      readonly bearer: string;
      readonly content_part?: string | undefined;
      readonly concurrency: number;
    }
  | { readonly order: 'bearer'; readonly bearer: string }
  | { readonly order: 'serve'; readonly methods: readonly string[]; readonly waiting: boolean }
  | { readonly order: 'result'; readonly content_id: string; readonly attempts: number }
  | { readonly order: 'stop' };

type Result = NonNullable<Run['result']>;

interface Report {
  readonly report: 'connected' | 'warning' | 'log' | 'made' | 'result' | 'stopped';
  readonly message?: string;
  readonly content_id?: string;
  readonly attempts?: number;
  readonly result?: Result;
}

export interface WorkerParts {
  readonly server: string;
  readonly credential: Credential;
  readonly log: DebugLog;
}

export class ApplicationWorker {
  /** The calls that wait, by method; of each method that the worker serves. */
  private readonly calls = new Map<string, number>();
  private waiting = 0;
  /** By the run's content id; undefined for a result that is not here. */
  private readonly asked = new Map<string, ((result: Result | undefined) => void)[]>();
  /** The newest results, by content id: small ones, which need not be asked for. */
  private readonly made = new Map<string, { readonly attempts: number; readonly result: Result }>();
  private resting = false;
  private thread: Thread | 'starting' | null = null;
  private stopping = false;
  private failures = 0;
  private timer: NodeJS.Timeout | null = null;
  private renewal: NodeJS.Timeout | null = null;

  private constructor(
    private readonly parts: WorkerParts,
    private readonly code: URL,
  ) {}

  /** Null in a checkout of this library, which has workers of its own. @throws ConfigurationError */
  static of(parts: WorkerParts): ApplicationWorker | null {
    const code = workerCode();
    return code === null ? null : new ApplicationWorker(parts, code);
  }

  /** Does the work while the worker serves the method. */
  async during<T>(method: string, work: () => Promise<T>): Promise<T> {
    this.enter(method);
    try {
      const value = await work();
      this.leave(method, true);
      return value;
    } catch (error) {
      // The server may not know it, and would refuse a worker that names it.
      this.leave(method, false);
      throw error;
    }
  }

  /** Of a run that has succeeded in device mode; undefined: another worker made its result. */
  resultOf({ content_id: contentId, attempts }: Run): Promise<Result | undefined> {
    const { thread } = this;
    const made = this.made.get(contentId ?? '');
    if (made !== undefined && made.attempts === attempts) {
      this.made.delete(contentId ?? '');
      return Promise.resolve(made.result);
    }
    if (contentId === undefined || thread === null || thread === 'starting') return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const waiting = this.asked.get(contentId);
      if (waiting !== undefined) return void waiting.push(resolve);
      this.asked.set(contentId, [resolve]);
      // Nothing else may keep the process alive.
      thread.ref();
      this.send({ order: 'result', content_id: contentId, attempts });
    });
  }

  private shown(contentId: string, result: Result | undefined): void {
    const waiting = this.asked.get(contentId) ?? [];
    this.asked.delete(contentId);
    for (const resolve of waiting) resolve(result);
    if (this.asked.size === 0 && this.thread !== 'starting') this.thread?.unref();
  }

  private enter(method: string): void {
    const isNew = !this.calls.has(method);
    if (isNew) this.makePlace();
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    this.waiting++;
    this.after(null);
    if (this.thread === null) void this.start();
    else if (isNew || this.resting) this.serve();
  }

  private leave(method: string, isKnown: boolean): void {
    const left = (this.calls.get(method) ?? 1) - 1;
    this.waiting--;
    if (left > 0 || isKnown) this.calls.set(method, left);
    else {
      this.calls.delete(method);
      this.serve();
    }
    if (this.waiting > 0) return;
    this.after(REST_MS, () => {
      this.serve();
      this.after(IDLE_MS, () => this.stop());
    });
  }

  private makePlace(): void {
    if (this.calls.size < METHODS_MAX) return;
    for (const [method, count] of this.calls) if (count === 0) return void this.calls.delete(method);
  }

  /** One moment is awaited at a time. None of them keeps the process alive. */
  private after(delayMs: number | null, act: () => void = () => {}): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (delayMs === null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      act();
    }, delayMs).unref();
  }

  private serve(): void {
    const methods = [...this.calls.keys()];
    const waiting = this.waiting > 0;
    this.resting = !waiting;
    if (methods.length > 0) this.send({ order: 'serve', methods, waiting });
    else this.stop();
  }

  private send(order: Order): void {
    if (this.thread !== null && this.thread !== 'starting') this.thread.postMessage(order);
  }

  private async start(): Promise<void> {
    this.thread = 'starting';
    const { server, credential } = this.parts;
    try {
      const [{ Worker }, bearer] = await Promise.all([import('node:worker_threads'), credential.bearer()]);
      const thread = new Worker(this.code, { name: 'methods-worker', env: workerEnvironment(), execArgv: [] });
      this.thread = thread;
      thread.on('message', (report: Report) => this.received(report));
      thread.on('error', (error) => this.failed(error));
      thread.on('exit', () => this.ended());
      // After the listeners, which would keep the process alive.
      thread.unref();
      beforeExit.add(this.endWithProcess);
      this.serve();
      const { contentPart: content_part } = credential;
      this.send({ order: 'start', server, bearer, content_part, concurrency: CONCURRENCY });
      if (!credential.isKey) this.renewal = setInterval(() => void this.renew(), BEARER_MS).unref();
      if (this.waiting === 0) this.after(IDLE_MS, () => this.stop());
    } catch (error) {
      this.thread = null;
      this.failed(error);
      this.startAgain();
    }
  }

  private async renew(): Promise<void> {
    try {
      this.send({ order: 'bearer', bearer: await this.parts.credential.bearer() });
    } catch {
      // The requests of the library report it.
    }
  }

  private received({ report, message, content_id: contentId = '', attempts = 0, result }: Report): void {
    if (report === 'result') return this.shown(contentId, result);
    if (report === 'made' && result !== undefined) return this.keep(contentId, attempts, result);
    if (report === 'connected') this.failures = 0;
    if (report === 'warning') process.emitWarning(message ?? '', 'MethodsWarning');
    this.parts.log(`worker: ${message ?? report}`);
  }

  private keep(contentId: string, attempts: number, result: Result): void {
    this.made.set(contentId, { attempts, result });
    for (const [eldest] of this.made) {
      if (this.made.size <= MADE_MAX) return;
      this.made.delete(eldest);
    }
  }

  private failed(error: unknown): void {
    this.failures++;
    const text = error instanceof Error ? error.message : String(error);
    process.emitWarning(`The worker of this application failed: ${text}`, 'MethodsWarning');
  }

  private ended(): void {
    beforeExit.remove(this.endWithProcess);
    if (this.renewal !== null) clearInterval(this.renewal);
    this.renewal = null;
    this.thread = null;
    this.stopping = false;
    for (const contentId of [...this.asked.keys()]) this.shown(contentId, undefined);
    this.startAgain();
  }

  /** While a run waits for it. */
  private startAgain(): void {
    if (this.waiting === 0) return;
    const again = () => {
      if (this.thread === null && this.waiting > 0) void this.start();
    };
    if (this.failures === 0) again();
    else setTimeout(again, Math.min(RESTART_MS_MAX, RESTART_MS * 2 ** this.failures)).unref();
  }

  private stop(): void {
    if (this.stopping || this.thread === null || this.thread === 'starting') return;
    this.stopping = true;
    this.send({ order: 'stop' });
  }

  /** Nothing is left to do for the process: the worker may give back what it has. */
  private readonly endWithProcess = () => {
    const { thread } = this;
    if (thread === null || thread === 'starting') return;
    thread.ref();
    this.stop();
    setTimeout(() => void thread.terminate(), EXIT_MS_MAX).unref();
  };
}
