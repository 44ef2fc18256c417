// What an application does with the runs it started.
import { randomUUID } from 'node:crypto';
import type { Answers } from './answers.ts';
import type { Content } from './content.ts';
import { ConflictError, InvalidRequestError } from './errors.ts';
import type { RequestOptions, Requests } from './requests.ts';
import { isStarted, isWhole, type ListedRun, type Run, type RunStatus, runPath } from './run.ts';
import { type RunEvent, runEvents } from './run-events.ts';
import { RunFiles } from './run-files.ts';

export interface RerunOptions extends RequestOptions {
  readonly idempotencyKey?: string;
  /** Keeps the finished steps before this one. */
  readonly fromStep?: string;
}

export interface AnswerOptions extends RequestOptions {
  /** Default: the question that is open. */
  readonly questionId?: string;
}

export interface ListOptions extends RequestOptions {
  readonly status?: RunStatus;
  readonly method?: string;
  /** Selects by all of these pairs. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly createdAfter?: Date | string;
  readonly createdBefore?: Date | string;
  /** Runs of a page, 1 to 200. */
  readonly pageSize?: number;
}

export class Runs {
  readonly files: RunFiles;

  constructor(
    private readonly requests: Requests,
    private readonly content: Content,
    private readonly answers: Answers,
  ) {
    this.files = new RunFiles(requests, content);
  }

  async get(runId: string, options: RequestOptions = {}): Promise<Run> {
    return this.content.opened(await this.read(runId, options));
  }

  /** Newest first. Pages are read as the loop comes to them. */
  async *list({ pageSize = 100, signal, ...filter }: ListOptions = {}): AsyncGenerator<ListedRun, void, undefined> {
    const query = queryOf(filter);
    query.set('limit', String(pageSize));
    for (let cursor: string | null | undefined; cursor !== null; ) {
      if (cursor !== undefined) query.set('cursor', cursor);
      const page = await this.requests.send({ verb: 'GET', path: `/v1/runs?${query}`, signal, is: isPage });
      yield* page.items;
      cursor = page.next_cursor;
    }
  }

  /** Every change of the run until it is over; a broken connection is continued. */
  async *events(runId: string, options: RequestOptions = {}): AsyncGenerator<RunEvent, void, undefined> {
    for await (const change of runEvents(this.requests, runId, options)) {
      yield change.event === 'step'
        ? change
        : ({ ...change, data: await this.content.opened(change.data) } as RunEvent);
    }
  }

  /** A run that a worker has is cancelled a moment later: `cancel_requested`. */
  cancel(runId: string, { signal }: RequestOptions = {}): Promise<Run> {
    return this.requests.send({ verb: 'POST', path: `${runPath(runId)}/cancel`, signal, is: isWhole });
  }

  /** Names its question, so that a late repeat never answers the next one. */
  async answer(runId: string, answer: object, { questionId, signal }: AnswerOptions = {}): Promise<Run> {
    // Whether the answer may leave the process as it is depends on the run.
    const run = await this.read(runId, { signal });
    return this.answers.give(run, questionId ?? openQuestion(run), answer, { signal });
  }

  /** Starts a run with the same version and inputs. */
  async rerun(runId: string, options: RerunOptions = {}): Promise<{ readonly run_id: string }> {
    const { idempotencyKey = randomUUID(), fromStep, signal } = options;
    if ((await this.read(runId, { signal })).run_data !== 'device') {
      const body = { idempotency_key: idempotencyKey, from_step: fromStep };
      return this.requests.send({ verb: 'POST', path: `${runPath(runId)}/rerun`, body, signal, is: isStarted });
    }
    if (fromStep !== undefined) {
      const message = 'A run in device mode is repeated from its first step: the outs of its steps are sealed for it.';
      throw new InvalidRequestError('device_mode_unsupported', message);
    }
    // Only this process can open the inputs.
    const body = { ...(await this.content.ofRerun(runId, signal)), idempotency_key: idempotencyKey };
    return this.requests.send({ verb: 'POST', path: '/v1/runs', body, signal, is: isStarted });
  }

  private read(runId: string, { signal }: RequestOptions): Promise<Run> {
    return this.requests.send({ verb: 'GET', path: runPath(runId), signal, is: isWhole });
  }
}

/** The answered one if none is open: the server knows a repeat of its answer. */
function openQuestion({ question, answers }: Run): string {
  const id = question?.id ?? answers?.at(-1)?.question_id;
  if (id !== undefined) return id;
  throw new ConflictError('run_not_waiting', 'The run has no open question.');
}

interface Page {
  readonly items: readonly ListedRun[];
  readonly next_cursor: string | null;
}

function isPage(value: unknown): value is Page {
  const { items, next_cursor: cursor } = Object(value) as Partial<Page>;
  return Array.isArray(items) && items.every(isStarted) && (typeof cursor === 'string' || cursor === null);
}

function queryOf({ status, method, metadata = {}, createdAfter, createdBefore }: ListOptions): URLSearchParams {
  const time = (value: Date | string | undefined) => (value instanceof Date ? value.toISOString() : value);
  const pairs = Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value] as const);
  const fields = { status, method, created_after: time(createdAfter), created_before: time(createdBefore) };
  const given = [...Object.entries(fields), ...pairs].flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return new URLSearchParams(Object.fromEntries(given));
}
