// The Inbox with 100,000 open questions: pages and counts as people read them, and the time from the moment a run asks
// until a page of the Inbox has its question. A person's open page learns of it from GET /api/events and reads again.
import { chooseStack, fetchToken } from '@methods/local-stack/token/running-stack';
import { openPool, type Sql } from '@methods/postgres/pool';
import { Pool } from 'undici';
import type { BenchStack } from './bench-stack.ts';
import { measure } from './measure.ts';
import type { WorkloadResult } from './report.ts';
import { quantile, RunCaller } from './run-caller.ts';

const QUESTIONS = 100_000;
const METHOD = 'ask-in-time';
const DAY_MS = 86_400_000;

/** `scale` counts requests; there are always as many questions. */
export async function measureInbox(stack: BenchStack, scale: number): Promise<WorkloadResult> {
  const who = { email: 'bench@example.com', organization: 'Local', role: 'admin', audience: 'machine' } as const;
  const token = await fetchToken(chooseStack(stack.dataDir), who);
  const sql = openPool({ url: stack.postgresUrl, applicationName: 'bench', max: 1, statementTimeoutMs: 120_000 });
  const caller = new RunCaller(stack, 1);
  const inbox = await OpenInbox.open(stack.baseUrl, token);
  try {
    await caller.post(METHOD, '?wait_ms=30000');
    await fill(sql);
    const read = (name: string, query: string, concurrency = 1) =>
      measure(stack, name, {
        ...{ pattern: 'read' as const, path: `/api/inbox${query}`, status: 200, credential: token, concurrency },
        runs: Math.ceil((concurrency === 1 ? 500 : 2_000) * scale),
      });
    await read('warm-up', '', 16);
    const due = new Date(Date.now() + DAY_MS).toISOString();
    const measurements = [
      await read('the first page', ''),
      await read('the first page', '', 16),
      await read('the first page of 200', '?limit=200'),
      await read('mine', '?mine=true'),
      await read('unassigned, of a method', `?unassigned=true&method=${stack.methods[METHOD] ?? ''}`),
      await read('due within a day', `?due_before=${due}`),
    ];
    const counts = Math.ceil(20 * scale);
    const countMs: number[] = [];
    for (let n = 0; n < counts; n++) countMs.push(await inbox.timeOf('/api/inbox/counts'));
    const [told, seen] = await asked(caller, inbox, Math.ceil(200 * scale));
    const ms = (figures: readonly number[]) =>
      `p50 ${quantile(figures, 0.5).toFixed(1)} ms, p95 ${quantile(figures, 0.95).toFixed(1)} ms`;
    return {
      measurements,
      notes: [
        `five counts of up to 1,000: ${ms(countMs)}`,
        `from the question's time to its event at an open page: ${ms(told)}`,
        `from the question's time to a page of the Inbox that has it: ${ms(seen)}`,
      ],
    };
  } finally {
    inbox.leave();
    await caller.close();
    await sql.end({ timeout: 1 });
  }
}

/** Copies of the question that is open, without runs: lists read only questions. */
async function fill(sql: Sql): Promise<void> {
  await sql`
    insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
      due_at_ms, assignee, state)
    select q.org_id, 'q_0' || lpad(n::text, 25, '0'), 'run_00' || lpad(n::text, 24, '0'), q.method, q.version_id, q.step,
      q.answer_by, q.prompt, q.asked_at_ms - ${QUESTIONS} + n, q.due_at_ms + n * 10000,
      case when n % 10 = 0 then 'usr_' || n % 7 else '' end, 'open'
    from (select * from scheduler.questions where state = 'open' limit 1) q, generate_series(1, ${QUESTIONS}) n`;
  // As autovacuum does within the minute.
  await sql`vacuum analyze scheduler.questions`;
}

/** One run after the other: when its event came, and when a page had it, since its question's `asked_at`. */
async function asked(caller: RunCaller, inbox: OpenInbox, runs: number): Promise<[told: number[], seen: number[]]> {
  const [told, seen]: [number[], number[]] = [[], []];
  for (let n = 0; n < runs; n++) {
    const { askedAtMs, id, atMs } = await inbox.next(() => caller.start(METHOD));
    const { items } = (await inbox.get('/api/inbox')) as { items: { id: string }[] };
    if (!items.some((item) => item.id === id)) throw new Error(`${id} is in no page though its event came`);
    told.push(atMs - askedAtMs);
    seen.push(Date.now() - askedAtMs);
  }
  return [told, seen];
}

interface ToldQuestion {
  readonly id: string;
  readonly askedAtMs: number;
  /** When the event came. */
  readonly atMs: number;
}

/** A person's page: it follows the organization, and reads the Inbox. */
class OpenInbox {
  private text = '';
  private onQuestion: (question: ToldQuestion) => void = () => {};

  private constructor(
    private readonly http: Pool,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  static async open(baseUrl: string, token: string): Promise<OpenInbox> {
    const inbox = new OpenInbox(new Pool(baseUrl, { connections: 2, bodyTimeout: 0 }), {
      authorization: `Bearer ${token}`,
    });
    const { body } = await inbox.http.request({ method: 'GET', path: '/api/events', headers: inbox.headers });
    await new Promise<void>((ready) => {
      body.on('error', () => {});
      body.on('data', (chunk: Buffer) => {
        inbox.read(chunk.toString());
        ready();
      });
    });
    return inbox;
  }

  /** The question that comes next once this was done. */
  next(act: () => Promise<unknown>): Promise<ToldQuestion> {
    return new Promise((resolve, reject) => {
      this.onQuestion = resolve;
      act().catch(reject);
    });
  }

  async get(path: string): Promise<unknown> {
    const { statusCode, body } = await this.http.request({ method: 'GET', path, headers: this.headers });
    if (statusCode !== 200) throw new Error(`${statusCode} ${(await body.text()).slice(0, 200)}`);
    return body.json();
  }

  async timeOf(path: string): Promise<number> {
    const startedMs = performance.now();
    await this.get(path);
    return performance.now() - startedMs;
  }

  leave(): void {
    void this.http.destroy();
  }

  private read(chunk: string): void {
    const blocks = (this.text + chunk).split('\n\n');
    this.text = blocks.pop() ?? '';
    for (const block of blocks) {
      if (!block.startsWith('event: question\n')) continue;
      const { question } = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}');
      this.onQuestion({ id: question.id, askedAtMs: Date.parse(question.asked_at), atMs: Date.now() });
    }
  }
}
