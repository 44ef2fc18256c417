// The worker that a client library starts for its application: it serves the methods that the application runs, and rests
// while no run is waited for. The library sends orders and gets reports; both are JSON.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Backoff } from '@methods/base/backoff';
import { systemClock, type Timer } from '@methods/base/clock';
import type { ProductionId } from '@methods/base/ids';
import { withTimeLimit } from '@methods/base/time-limit';
import { StepFetch } from '@methods/executor/step-fetch';
import type { Logger } from '@methods/logging/logger';
import type { JsonObject } from '@methods/method/json';
import { Worker } from '../worker.ts';
import { KeptResults } from './kept-results.ts';

export type Order =
  | {
      readonly order: 'start';
      readonly server: string;
      readonly bearer: string;
      /** Of a whole key: opens runs in device mode. It goes no further than this worker. */
      readonly content_part?: string;
      readonly concurrency: number;
      readonly idle_ms?: number;
    }
  /** The present access token of a person's sign-in. */
  | { readonly order: 'bearer'; readonly bearer: string }
  /** All methods from now on; `waiting`: a run of the application is waited for. */
  | { readonly order: 'serve'; readonly methods: readonly string[]; readonly waiting: boolean }
  /** Asks for the result of a run that has succeeded in device mode, with its `attempts`. */
  | { readonly order: 'result'; readonly content_id: string; readonly attempts: number }
  | { readonly order: 'stop' };

export type Report =
  | { readonly report: 'connected' }
  /** A sentence for a person, at most one of each kind. */
  | { readonly report: 'warning'; readonly message: string }
  | { readonly report: 'log'; readonly message: string }
  /** The result of a run in device mode, before its end is known: a small one need not be asked for. */
  | { readonly report: 'made'; readonly content_id: string; readonly attempts: number; readonly result: JsonObject }
  /** Without a result: another worker made it. */
  | { readonly report: 'result'; readonly content_id: string; readonly result?: JsonObject }
  | { readonly report: 'stopped' };

const WARNING_MS = 10_000;
const DRAIN_MS = 5_000;
/** The library keeps the newest of them. */
const MADE_LENGTH_MAX = 16 * 1024;

export interface InAppWorkerParts {
  readonly report: (report: Report) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly warningMs?: number;
}

export class InAppWorker {
  private readonly stepFetch = new StepFetch();
  private readonly results = new KeptResults();
  private readonly ending = new AbortController();
  private worker: Worker | null = null;
  private methods: readonly ProductionId[] = [];
  private waiting = false;
  private bearer = '';
  /** Ends by itself after this rest; undefined: its parent ends it. */
  private idleMs: number | undefined;
  private idle: Timer | null = null;
  /** What the warning names if there is no connection yet. */
  private sought = '';
  private connected = false;
  private changed = false;
  private readonly warned = new Set<string>();
  private stopped: Promise<void> | null = null;

  constructor(private readonly parts: InAppWorkerParts) {}

  obey(order: Order): void {
    switch (order.order) {
      case 'start':
        this.bearer = order.bearer;
        this.idleMs = order.idle_ms;
        void this.start(order);
        break;
      case 'bearer':
        this.bearer = order.bearer;
        break;
      case 'serve':
        this.serve(order.methods as readonly ProductionId[], order.waiting);
        break;
      case 'result':
        this.showResult(order.content_id, order.attempts);
        break;
      case 'stop':
        void this.stop();
        break;
    }
  }

  stop(): Promise<void> {
    this.stopped ??= this.end();
    return this.stopped;
  }

  private async end(): Promise<void> {
    this.ending.abort();
    await this.worker?.stop();
    await this.stepFetch.stop();
    this.parts.report({ report: 'stopped' });
  }

  private async start(order: Extract<Order, { order: 'start' }>): Promise<void> {
    const { server, concurrency, content_part: contentPart } = order;
    const { environment, warningMs = WARNING_MS } = this.parts;
    this.sought = `The server ${server}`;
    const late = systemClock.after(warningMs, () => {
      if (this.connected || this.ending.signal.aborted) return;
      this.warn(
        'unreachable',
        `${this.sought} cannot be reached. Runs wait for another worker; without one, make it reachable from here.`,
      );
    });
    this.ending.signal.addEventListener('abort', () => late.cancel());
    const addresses = await schedulerAddresses(server, this.ending.signal);
    if (addresses === null || this.ending.signal.aborted) return;
    if (addresses.length === 0) {
      late.cancel();
      this.warn('no_address', `${server} does not say where workers connect: its operator sets GRPC_PUBLIC_URL.`);
      return;
    }
    this.sought = `The worker port ${addresses.join(', ')} of ${server}`;
    const home = environment.HOME;
    const folder = join(environment.XDG_CACHE_HOME || (home ? join(home, '.cache') : tmpdir()), 'methods');
    this.worker = new Worker({
      addresses,
      authPart: this.bearer,
      contentPart,
      ...(this.bearer.startsWith('sk_') ? {} : { renewedToken: async () => this.bearer }),
      methods: this.methods,
      concurrency,
      secrets: secretsOf(environment),
      dataDir: join(folder, 'worker'),
      cacheDir: join(folder, 'environments'),
      sandbox: true,
      allowInstallScripts: false,
      path: environment.PATH ?? '/usr/local/bin:/usr/bin:/bin',
      fetch: this.stepFetch.fetch,
      clock: systemClock,
      logger: this.logger(server),
      drainMs: DRAIN_MS,
      onResultMade: (run, result) => this.keepResult(run, result),
      onConnected: () => {
        this.connected = true;
        this.parts.report({ report: 'connected' });
      },
    });
    if (!this.waiting) this.worker.places.rest();
    await this.worker.start();
  }

  private keepResult(run: { readonly contentId: string; readonly attempt: number }, result: JsonObject): void {
    if (this.results.keep(run, result) > MADE_LENGTH_MAX) return;
    this.parts.report({ report: 'made', content_id: run.contentId, attempts: run.attempt, result });
  }

  private showResult(contentId: string, attempts: number): void {
    const result = this.results.of(contentId, attempts);
    this.parts.report({ report: 'result', content_id: contentId, ...(result !== undefined && { result }) });
  }

  private serve(methods: readonly ProductionId[], waiting: boolean): void {
    const isNew = methods.length !== this.methods.length || methods.some((id, at) => id !== this.methods[at]);
    this.methods = methods;
    this.idle?.cancel();
    this.idle = !waiting && this.idleMs !== undefined ? systemClock.after(this.idleMs, () => void this.stop()) : null;
    if (waiting !== this.waiting) {
      this.waiting = waiting;
      if (waiting) this.worker?.places.wake();
      else this.worker?.places.rest();
    }
    if (!isNew || this.changed) return;
    // Many methods of one turn are one hello.
    this.changed = true;
    setImmediate(() => {
      this.changed = false;
      this.worker?.serve(this.methods);
    });
  }

  private warn(kind: string, message: string): void {
    if (this.warned.has(kind)) return;
    this.warned.add(kind);
    this.parts.report({ report: 'warning', message });
  }

  /** What an application should see of the worker's log. */
  private logger(server: string): Logger {
    const log = (_fields: unknown, message: string) => this.parts.report({ report: 'log', message });
    const logger: Logger = {
      debug: () => {},
      info: log,
      warn: (fields, message) => {
        const { code, reason, certificate, address } = fields;
        const why = reason === undefined ? '' : ` (${reason})`;
        log(fields, message === 'not connected' ? `not connected: ${code}${why}` : message);
        if (certificate !== undefined) {
          const refused = `The worker of this application refuses the certificate of ${address}: ${reason}.`;
          this.warn(
            `${certificate} of ${address}`,
            `${refused} Runs wait for another worker, or for a good certificate.`,
          );
        }
        if (code === 'content_grant_damaged') this.warn(`grant of ${fields.key}`, `${message} (${fields.key})`);
        if (message !== 'not connected' || (code !== 'unauthorized' && code !== 'forbidden')) return;
        this.warn('refused', `${server} refuses the worker of this application (${code}): ${reason}`);
      },
      error: log,
      child: () => logger,
    };
    return logger;
  }
}

/** The key is the application's: a step that could read it could act for the whole organization. */
function secretsOf(environment: InAppWorkerParts['environment']): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && name !== 'SERVICE_API_KEY') secrets.set(name, value);
  }
  return secrets;
}

// Asks a server where its workers connect, until it answers.

const REPLY_MS = 10_000;

/** Empty: the server has no such address. Null: it was stopped. */
async function schedulerAddresses(server: string, signal: AbortSignal): Promise<string[] | null> {
  const backoff = new Backoff({ firstMs: 100, maxMs: 5_000, jitter: 0.5 });
  for (;;) {
    try {
      const reply = await fetch(`${server}/.well-known/methods`, {
        redirect: 'error',
        signal: withTimeLimit(signal, REPLY_MS),
      });
      const facts: unknown = await reply.json();
      if (reply.ok) {
        const { grpc_url: address } = Object(facts) as { grpc_url?: unknown };
        return typeof address === 'string' && address !== '' ? address.split(',') : [];
      }
    } catch {
      // The library's own requests report what is wrong with the server.
    }
    await pause(backoff.nextMs(), undefined, { signal }).catch(() => {});
    if (signal.aborted) return null;
  }
}
