// The client: starts runs, waits for their ends, and has their questions answered.

import { Answers } from './answers.ts';
import { ClientWebhooks } from './client-webhooks.ts';
import { readSurroundings } from './config.ts';
import { Content, isOtherStart, type RunData } from './content.ts';
import { findAccess } from './credential.ts';
import { Files } from './files.ts';
import { FollowedRuns } from './followed-runs.ts';
import { MethodReader } from './method-reader.ts';
import type { EndedRun, MethodName, OnAsk } from './method-types.ts';
import { pause } from './pauses.ts';
import { Places } from './places.ts';
import { type AnyOnAsk, Asking, type OnError } from './questions.ts';
import { type DebugLog, type RequestOptions, Requests } from './requests.ts';
import { isOver, isStarted, type Run, runPath, type StartedRun } from './run.ts';
import { Runs } from './runs.ts';
import { type Start, type StartBody, type StartOutcome, startBody, startMany } from './starts.ts';
import { ApplicationWorker } from './worker.ts';

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
/** A reply that takes longer meets the time limits of proxies. */
const WAIT_MS = 20_000;
/** A reply without news is not asked for again before this time. */
const EARLY_MS = 1_000;
/** Calls of `run` that wait on a connection of their own, which is quickest. All others share one. */
const WAITING_CONNECTIONS = 4;

export interface MethodsOptions {
  /** Default: `SERVICE_API_KEY`, of the environment or of `.env` in the working folder. */
  readonly apiKey?: string;
  /** Default: `METHODS_SERVER`, likewise. */
  readonly baseUrl?: string;
  /** In milliseconds, of one attempt of a request. Sending a file takes time of its own. */
  readonly timeout?: number;
  /** Default: the first `run` starts a worker in this process. False: other workers execute the runs. */
  readonly worker?: false;
  readonly maxRetries?: number;
  readonly fetch?: typeof fetch;
  readonly logger?: { readonly debug: DebugLog };
  /** For each `run` that has none of its own. */
  readonly onAsk?: OnAsk;
  /** `device`: content is always sealed, also if the organization does not ask for it. */
  readonly runData?: RunData;
  /** Default: a warning of the process. */
  readonly onError?: OnError;
}

export interface StartOptions<M extends MethodName = string> extends Start<M>, RequestOptions {}

export interface RunOptions<M extends MethodName = string> extends StartOptions<M> {
  /** Answers the questions of the run. */
  readonly onAsk?: OnAsk<M>;
}

export class Methods {
  readonly runs: Runs;
  readonly files: Files;
  readonly methods: MethodReader;
  readonly webhooks: ClientWebhooks;
  private readonly requests: Requests;
  private readonly content: Content;
  private readonly answers: Answers;
  private readonly followed: FollowedRuns;
  /** Undefined: not needed yet. */
  private worker: ApplicationWorker | null | undefined;
  private readonly waiting = new Places(WAITING_CONNECTIONS);

  /** @throws ConfigurationError */
  constructor(private readonly options: MethodsOptions = {}) {
    const { timeout = TIMEOUT_MS, maxRetries = MAX_RETRIES, logger } = options;
    const { credential, baseUrl } = findAccess(options, readSurroundings());
    this.requests = new Requests({
      baseUrl,
      credential,
      timeoutMs: timeout,
      maxRetries,
      fetch: options.fetch ?? fetch,
      log: (line) => logger?.debug(line),
    });
    this.content = new Content(this.requests, options.runData);
    this.answers = new Answers(this.requests, this.content);
    this.runs = new Runs(this.requests, this.content, this.answers);
    this.files = new Files(this.requests, this.content);
    this.webhooks = new ClientWebhooks(this.runs, this.content);
    this.methods = new MethodReader(this.requests);
    this.followed = new FollowedRuns(this.requests);
  }

  /** Returns when the run is stored. */
  async start<M extends MethodName>(options: StartOptions<M>): Promise<StartedRun> {
    const { signal } = options;
    return this.content.started(this.bodyOf(options), signal, (body) => this.send(body, signal));
  }

  /** Many starts in few requests. Each of them succeeds or is refused by itself. */
  async startMany(starts: readonly Start[], options: RequestOptions = {}): Promise<StartOutcome[]> {
    const asked = starts.map((start) => this.bodyOf(start));
    const bodies = await Promise.all(asked.map((body) => this.content.ofStart(body, options.signal)));
    const outcomes = await startMany(this.requests, bodies, options);
    for (let grant = 0; ; grant++) {
      const again: { readonly at: number; readonly body: StartBody }[] = [];
      for (const [at, { error }] of outcomes.entries()) {
        const body = isOtherStart(error) && (await this.content.asGranted(asked[at] ?? {}, bodies[at] ?? {}, grant));
        if (body) again.push({ at, body });
      }
      if (again.length === 0) return outcomes;
      const others = again.map(({ body }) => body);
      for (const [n, outcome] of (await startMany(this.requests, others, options)).entries()) {
        if (!isOtherStart(outcome.error)) outcomes[again[n]?.at ?? 0] = outcome;
      }
    }
  }

  /**
   * Returns when the run is over: succeeded, failed or cancelled. A run that asks waits for its answer, which `onAsk`
   * may give.
   */
  async run<M extends MethodName>(options: RunOptions<M>): Promise<EndedRun<M>> {
    const { signal } = options;
    const onAsk = (options.onAsk ?? this.options.onAsk) as AnyOnAsk | undefined;
    const asked = this.bodyOf(options);
    const body = onAsk === undefined ? asked : { ...asked, answer_by: 'application' };
    const { answers, content } = this;
    const log = this.requests.settings.log;
    const asking = onAsk && new Asking({ answers, content, onAsk, onError: this.options.onError, log, signal });
    const waited = () =>
      content.started(body, signal, (sent) => {
        const see = (run: Run) => {
          content.refuseOther(run, sent, options.idempotencyKey === undefined);
          asking?.ask(run);
        };
        return this.waiting.tryTake()
          ? this.runWaiting(sent, see, signal).finally(() => this.waiting.leave())
          : this.runFollowed(sent, see, signal);
      });
    const worker = this.ensureWorker();
    const run = await (worker === null
      ? waited()
      : worker.during(options.method, async () => withResult(await waited(), worker)));
    return (await content.opened(run)) as unknown as EndedRun<M>;
  }

  private bodyOf(start: Start): StartBody {
    return startBody(start, this.requests.settings.credential);
  }

  /** @throws ConfigurationError */
  private ensureWorker(): ApplicationWorker | null {
    const { baseUrl: server, credential, log } = this.requests.settings;
    this.worker ??= this.options.worker === false ? null : ApplicationWorker.of({ server, credential, log });
    return this.worker;
  }

  /** Each request waits for the run. */
  private async runWaiting(body: StartBody, see: (run: Run) => void, signal: AbortSignal | undefined): Promise<Run> {
    const wait = { waitMs: WAIT_MS, signal, is: isStarted };
    let run = await this.requests.send({ verb: 'POST', path: `/v1/runs?wait_ms=${WAIT_MS}`, body, ...wait });
    for (see(run as Run); !isOver(run); see(run as Run)) {
      const known = run.question?.id;
      const past = known === undefined ? '' : `&after_question=${encodeURIComponent(known)}`;
      const path = `${runPath(run.run_id)}?wait_ms=${WAIT_MS}${past}`;
      const beganMs = performance.now();
      run = await this.requests.send({ verb: 'GET', path, ...wait, isUnderway: true });
      // Of a server, or a proxy, that does not wait.
      const isEarly = performance.now() - beganMs < EARLY_MS && run.question?.id === known && !isOver(run);
      if (isEarly) await pause(EARLY_MS, signal);
    }
    return run as Run;
  }

  private async runFollowed(body: StartBody, see: (run: Run) => void, signal: AbortSignal | undefined): Promise<Run> {
    const followed = await this.followed.start(() => this.send(body, signal), signal);
    try {
      let run = await followed.next(undefined, signal);
      for (see(run); !isOver(run); see(run)) run = await followed.next(run.question?.id, signal);
      return run;
    } finally {
      followed.leave();
    }
  }

  private send(body: StartBody, signal: AbortSignal | undefined): Promise<StartedRun> {
    return this.requests.send({ verb: 'POST', path: '/v1/runs', body, signal, is: isStarted });
  }
}

/** With its result, if that stayed in this process. */
async function withResult(run: Run, worker: ApplicationWorker): Promise<Run> {
  if (run.status !== 'succeeded' || run.result_at !== 'worker') return run;
  const result = await worker.resultOf(run);
  return result === undefined ? run : { ...run, result };
}
