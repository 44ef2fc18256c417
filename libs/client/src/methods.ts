// The client: starts runs, and waits for their ends.
import { randomUUID } from 'node:crypto';
import { parseBearerKey } from '@methods/auth/service-key';
import { readSurroundings } from './config.ts';
import { ConfigurationError } from './errors.ts';
import { type DebugLog, type RequestOptions, Requests } from './requests.ts';
import { type Run, Runs, runPath } from './runs.ts';
import { webhooks } from './webhooks.ts';

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
/** A reply that takes longer meets the time limits of proxies. */
const WAIT_MS = 20_000;

export interface MethodsOptions {
  /** Default: `SERVICE_API_KEY`, of the environment or of `.env` in the working folder. */
  readonly apiKey?: string;
  /** Default: `METHODS_SERVER`, likewise. */
  readonly baseUrl?: string;
  /** In milliseconds, of one attempt of a request. */
  readonly timeout?: number;
  readonly maxRetries?: number;
  readonly fetch?: typeof fetch;
  readonly logger?: { readonly debug: DebugLog };
}

export interface StartOptions extends RequestOptions {
  readonly method: string;
  readonly inputs?: object;
  /** Default: one of its own for each call, kept over its retries. */
  readonly idempotencyKey?: string;
  readonly version?: string;
  readonly webhookUrl?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export type StartedRun = Pick<Run, 'run_id' | 'version_id' | 'status'> & Partial<Run>;

export class Methods {
  readonly runs: Runs;
  readonly webhooks = webhooks;
  private readonly requests: Requests;

  /** @throws ConfigurationError */
  constructor(options: MethodsOptions = {}) {
    const surroundings = options.apiKey === undefined || options.baseUrl === undefined ? readSurroundings() : undefined;
    this.requests = new Requests({
      bearer: authPartOf(options.apiKey ?? surroundings?.apiKey),
      baseUrl: addressOf(options.baseUrl ?? surroundings?.server),
      timeoutMs: options.timeout ?? TIMEOUT_MS,
      maxRetries: options.maxRetries ?? MAX_RETRIES,
      fetch: options.fetch ?? fetch,
      log: (line) => options.logger?.debug(line),
    });
    this.runs = new Runs(this.requests);
  }

  /** Returns when the run is stored. */
  start(options: StartOptions): Promise<StartedRun> {
    return this.send(options, 0);
  }

  /** Returns when the run is over: succeeded, failed or cancelled. A run that asks waits for its answer. */
  async run(options: StartOptions): Promise<Run> {
    const { signal } = options;
    let run = await this.send<Run>(options, WAIT_MS);
    while (!isOver(run)) {
      const past = run.question === undefined ? '' : `&after_question=${encodeURIComponent(run.question.id)}`;
      const path = `${runPath(run.run_id)}?wait_ms=${WAIT_MS}${past}`;
      run = await this.requests.send<Run>({ verb: 'GET', path, waitMs: WAIT_MS, signal });
    }
    return run;
  }

  private send<T extends StartedRun>(options: StartOptions, waitMs: number): Promise<T> {
    const { method, inputs, version, webhookUrl, metadata, idempotencyKey = randomUUID(), signal } = options;
    const body = { method, inputs, version, webhook_url: webhookUrl, metadata, idempotency_key: idempotencyKey };
    const path = waitMs === 0 ? '/v1/runs' : `/v1/runs?wait_ms=${waitMs}`;
    return this.requests.send({ verb: 'POST', path, body, waitMs, signal });
  }
}

function isOver({ status }: StartedRun): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** A mistyped key is found by its checksum. Its content part never leaves the process. */
function authPartOf(apiKey: string | undefined): string {
  if (apiKey === undefined) {
    const message = 'There is no service key. Set SERVICE_API_KEY in the environment or in .env, or give apiKey.';
    throw new ConfigurationError('no_key', message);
  }
  const key = parseBearerKey(apiKey.trim());
  if (key !== null) return key.authPart;
  const message = 'The service key is mistyped or cut: its checksum does not fit. Copy it again as a whole.';
  throw new ConfigurationError('mistyped_key', message);
}

function addressOf(baseUrl: string | undefined): string {
  if (baseUrl !== undefined && /^https?:\/\//.test(baseUrl) && URL.canParse(baseUrl))
    return baseUrl.replace(/\/+$/, '');
  const message = 'There is no address of a server. Set METHODS_SERVER, or give baseUrl: https://….';
  throw new ConfigurationError('no_server', message);
}
