// A worker under test: it has its own data folder, a clock the test turns, a readable log, and steps whose requests the
// test answers.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '@methods/logging/logger';
import { tempFolder } from '@methods/test/harness/temp-folder';
import { until } from '@methods/test/harness/until';
import { TurnableClock } from './turnable-clock.fixture.ts';
import { Worker } from './worker.ts';
import type { WorkerNode } from './worker-node.fixture.ts';
import type { WorkerOptions } from './worker-options.ts';

export interface StepRequest {
  /** The last part of the URL. */
  readonly name: string;
  readonly signal: AbortSignal;
  /** The body the step sends. */
  body(): Promise<string>;
  /** Sends a text or bytes unchanged, and anything else as JSON. */
  answer(body: string | Uint8Array | object, contentType?: string): void;
}

export class TestWorker {
  readonly clock = new TurnableClock();
  readonly dataDir = tempFolder('worker');
  /** Log records as written, one line each. */
  readonly log: string[] = [];
  /** Requests of http steps that wait for an answer. */
  readonly requests: StepRequest[] = [];
  /** The number of open requests now, and its maximum so far. */
  sideBySide = 0;
  sideBySideMax = 0;
  readonly worker: Worker;
  private stopped: Promise<void> | null = null;

  constructor(
    private readonly node: WorkerNode,
    options: Partial<WorkerOptions> = {},
  ) {
    this.worker = new Worker({
      addresses: [node.address],
      authPart: 'sk_test',
      methods: ['wf_test'],
      concurrency: 2,
      secrets: new Map(),
      dataDir: this.dataDir,
      cacheDir: join(this.dataDir, 'environments'),
      sandbox: true,
      allowInstallScripts: false,
      path: '/usr/local/bin:/usr/bin:/bin',
      // Steps take longer on a busy machine, which must not change what is reported of them.
      startsToldAfterMs: 2_000_000_000,
      fetch: (input, init) => this.fetch(new Request(input, init)),
      clock: this.clock,
      logger: createLogger({
        name: 'worker',
        level: 'debug',
        destination: { write: (line: string) => void this.log.push(line) },
      }),
      ...options,
    });
  }

  /** Resolves when the worker has started and the node has welcomed it. */
  static async start(node: WorkerNode, options: Partial<WorkerOptions> = {}): Promise<TestWorker> {
    const worker = new TestWorker(node, options);
    const streams = node.streams.length;
    await worker.worker.start();
    // One that learns its content keys opens a second stream, which names them.
    await until('the worker is connected', () => node.streams.slice(streams).some(({ free }) => free > 0));
    return worker;
  }

  stop(): Promise<void> {
    this.stopped ??= this.worker.stop();
    return this.stopped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.stop();
    // Interrupts at once the steps that a test left open.
    this.clock.forward(3_600_000);
    await stopped;
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** Takes the next request of the step with that name out of `requests`. */
  async request(name: string): Promise<StepRequest> {
    const found = await until(`step ${name} sends its request`, () => this.requests.find((it) => it.name === name));
    this.requests.splice(this.requests.indexOf(found), 1);
    return found;
  }

  private fetch(request: Request): Promise<Response> {
    const { signal } = request;
    const name = new URL(request.url).pathname.slice(1);
    this.node.story.push(`step ${name} begins`);
    this.sideBySideMax = Math.max(this.sideBySideMax, ++this.sideBySide);
    return new Promise((resolve, reject) => {
      const answer: StepRequest['answer'] = (body, contentType = 'application/json') => {
        this.sideBySide--;
        const asIs = typeof body === 'string' || body instanceof Uint8Array;
        resolve(
          new Response(asIs ? Buffer.from(body) : JSON.stringify(body), { headers: { 'content-type': contentType } }),
        );
      };
      const abort = () => {
        this.sideBySide--;
        reject(new Error('aborted'));
      };
      signal.addEventListener('abort', abort, { once: true });
      this.requests.push({ name, signal, answer, body: () => request.text() });
    });
  }
}
