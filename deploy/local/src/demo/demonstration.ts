// The main use case with real input: an application starts runs over HTTP, answers a question it gets by webhook, and
// gets results by HTTP and by signed webhook. Prints the events as a timeline and a table.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Run } from '@methods/api/run';
import type { ReadyLine } from '../stack.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

/** A busy machine needs more time. */
const WEBHOOK_MS = 120_000;
/** An example method and its inputs. */
export const GREETING = { method: 'greet-customer', inputs: { name: 'Ada' } };

/** Returns true when everything happened as expected. */
export async function runDemonstration(ready: ReadyLine, say: (line: string) => void): Promise<boolean> {
  const receiver = new WebhookReceiver(ready.webhook_secret);
  const webhookUrl = await receiver.start();
  try {
    return await new Demonstration(ready, receiver, webhookUrl, say).run();
  } finally {
    await receiver.stop();
  }
}

class Demonstration {
  private readonly client: RunClient;
  private readonly entries: TimelineEntry[] = [];
  private readonly startedMs = performance.now();

  constructor(
    private readonly ready: ReadyLine,
    private readonly receiver: WebhookReceiver,
    private readonly webhookUrl: string,
    private readonly say: (line: string) => void,
  ) {
    this.client = new RunClient(ready.base_url, ready.api_key);
  }

  async run(): Promise<boolean> {
    const greeting = await this.greet();
    const refund = await this.refund();
    this.say('');
    for (const line of timeline(this.entries)) this.say(line);
    this.say('');
    for (const line of table([greeting, refund])) this.say(line);
    const signed = this.receiver.events.every((event) => event.signature === 'valid');
    const passed =
      greeting.status === 'succeeded' && refund.status === 'succeeded' && signed && this.receiver.events.length >= 3;
    this.say('');
    this.say(passed ? 'Both runs finished, every webhook was signed.' : 'The demonstration did NOT end as it must.');
    return passed;
  }

  /** A short run: one request, the reply is the result. */
  private async greet(): Promise<Run> {
    const { method, inputs } = GREETING;
    const body = {
      method: this.method(method),
      inputs,
      webhook_url: this.webhookUrl,
      idempotency_key: randomUUID(),
    };
    this.note('app', 'POST /v1/runs?wait_ms=15000', method);
    const run = await this.client.rested(await this.client.start(body, '?wait_ms=15000'));
    this.note('service', `reply: ${run.status}`, JSON.stringify(run.result ?? run.error));
    await this.webhook(run.run_id, 'succeeded');
    return run;
  }

  /** A run that asks: the application gets the question by webhook and answers it. */
  private async refund(): Promise<Run> {
    const inputs = { order_id: 'ord_7f3', amount: 250, reason: 'damaged' };
    const body = {
      method: this.method('approve-refund'),
      inputs,
      webhook_url: this.webhookUrl,
      idempotency_key: randomUUID(),
    };
    this.note('app', 'POST /v1/runs', 'approve-refund');
    const started = await this.client.start(body);
    const runId = started.run_id;
    this.note('service', `reply: ${started.status}`, runId);
    const asked = await this.webhook(runId, 'needs_input');
    const question = asked?.body.question;
    if (question !== undefined) {
      this.note('app', `POST /v1/runs/${short(runId)}/answer`, '{"decision":"approve"}');
      const answered = await this.client.answer(runId, { decision: 'approve', note: 'Sorry!' }, question.id);
      this.note('service', `reply: ${answered.status}`, '');
    }
    const run = await this.client.rested({ ...started, status: 'queued' }, question?.id);
    this.note(
      'service',
      `GET /v1/runs/${short(runId)}: ${run.status}`,
      JSON.stringify(run.result ?? run.error ?? null),
    );
    await this.webhook(runId, run.status);
    return run;
  }

  private async webhook(runId: string, event: string) {
    const received = await this.receiver.wait(runId, event, WEBHOOK_MS);
    if (received === null) this.note('webhook', `${event} did not come`, runId);
    else this.note('webhook', `${event}, signature ${received.signature}`, received.body.question?.prompt ?? '');
    return received;
  }

  private method(name: string): string {
    const id = this.ready.methods[name];
    if (id === undefined) throw new Error(`the example ${name} is not published`);
    return id;
  }

  private note(who: TimelineEntry['who'], what: string, detail: string): void {
    this.entries.push({ atMs: performance.now() - this.startedMs, who, what, detail });
  }
}

function table(runs: readonly Run[]): string[] {
  const rows = runs.flatMap((run) => [
    [run.run_id, '', run.status, ...[run.timing.queued_ms, run.timing.running_ms, run.timing.waiting_ms].map(String)],
    ...run.steps.map((step) => [
      `  ${step.name}`,
      step.kind,
      step.status,
      '',
      String(step.timing.running_ms ?? ''),
      '',
    ]),
  ]);
  const widths = [34, 6, 10, 10, 11, 11];
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at < 3 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join(' ')
      .trimEnd();
  return [['run and steps', 'kind', 'status', 'queued ms', 'running ms', 'waiting ms'], ...rows].map(line);
}

function short(runId: string): string {
  return `${runId.slice(0, 8)}...`;
}

/** The events, a line each. */
interface TimelineEntry {
  readonly atMs: number;
  readonly who: 'app' | 'service' | 'webhook';
  readonly what: string;
  readonly detail: string;
}

const ARROWS = { app: 'app      ->', service: 'service  <-', webhook: 'webhook  <-' } as const;

function timeline(entries: readonly TimelineEntry[]): string[] {
  return entries.map(({ atMs, who, what, detail }) => {
    const time = `${(atMs / 1000).toFixed(3).padStart(7)} s`;
    return `${time}  ${ARROWS[who]} ${what.padEnd(38)} ${detail}`.trimEnd();
  });
}

// The calls of the public HTTP API that the demonstration makes. A busy machine answers late, or reports for a while
// that it cannot: the calls wait for both.

const PATIENCE_MS = 600_000;
const AGAIN_MS = 500;
const AGAIN = [429, 503];
const AT_REST = ['waiting', 'succeeded', 'failed', 'cancelled'];

export class RunClient {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  start(body: object, query = ''): Promise<Run> {
    return this.call('POST', `/v1/runs${query}`, body);
  }

  private get(runId: string, query: string): Promise<Run> {
    return this.call('GET', `/v1/runs/${runId}${query}`);
  }

  /** Returns the run when it rests: finished, or with another question than this one. */
  async rested(run: Run, answered?: string): Promise<Run> {
    const untilMs = performance.now() + PATIENCE_MS;
    const query = `?wait_ms=15000${answered === undefined ? '' : `&after_question=${answered}`}`;
    let latest = run;
    while (!AT_REST.includes(latest.status) || (latest.status === 'waiting' && latest.question?.id === answered)) {
      if (performance.now() > untilMs) break;
      latest = await this.get(run.run_id, query);
    }
    return latest;
  }

  answer(runId: string, answer: object, questionId: string): Promise<Run> {
    return this.call('POST', `/v1/runs/${runId}/answer`, { answer, question_id: questionId });
  }

  private async call(method: string, path: string, body?: object): Promise<Run> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const { status, text } = await this.request(method, path, body);
      if (status < 300) return JSON.parse(text) as Run;
      if (!AGAIN.includes(status) || performance.now() > untilMs) {
        throw new Error(`${method} ${path} answered ${status}: ${text}`);
      }
      await wait(AGAIN_MS);
    }
  }

  private async request(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    const reply = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(70_000),
    });
    return { status: reply.status, text: await reply.text() };
  }
}
