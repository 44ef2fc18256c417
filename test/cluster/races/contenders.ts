// The ways to answer a question, each under its own name as the answer: by programs and people over HTTP, and by two
// answer links. Each is repeated until it is known whether its answer counted.
import { createHash, randomBytes } from 'node:crypto';
import type { ReadyLine } from '@methods/local-stack/stack';
import type { Sql } from '@methods/postgres/pool';
import { person, sessionOf } from '../../e2e/people.ts';
import { elapse } from '../../harness/until.ts';

export interface RacedQuestion {
  readonly runId: string;
  readonly questionId: string;
}

export type Send = () => Promise<'accepted' | 'refused'>;

export interface Contender {
  readonly name: string;
  /** As the receipt names it. */
  readonly channel: string;
  /** Reads what it has to, so that sending is one request. */
  prepare(question: RacedQuestion): Promise<Send>;
}

/** A contender that also reads how the question ended. */
export interface LinkContender extends Contender {
  page(question: RacedQuestion): Promise<string>;
}

export interface Contenders {
  /** Asks for the end of the run. */
  readonly cancel: (question: RacedQuestion) => Promise<void>;
  readonly all: readonly Contender[];
  readonly links: readonly LinkContender[];
}

interface Address {
  readonly url: string;
  /** What names the question in the body. */
  readonly named: object;
}

const ofRun =
  (surface: string) =>
  ({ runId, questionId }: RacedQuestion): Address => ({
    url: `${surface}/runs/${runId}/answer`,
    named: { question_id: questionId },
  });
const ofQuestion =
  (surface: string) =>
  ({ questionId }: RacedQuestion): Address => ({ url: `${surface}/questions/${questionId}/answer`, named: {} });
const REPEAT_AFTER_MS = 50;
const REPEATS_MAX = 2_000;
const TRY_MS = 15_000;
const REFUSALS = ['question_changed', 'run_not_waiting', 'run_finished'];
const WHO = { organization: 'Local', role: 'admin' } as const;

export async function contenders(ready: ReadyLine, sql: Sql): Promise<Contenders> {
  const { base_url: base, api_key: key } = ready;
  const token = (await person({ ready }, { ...WHO, email: 'cli@racers.example' })).apiKey;
  const session = await sessionOf({ ready }, { ...WHO, email: 'inbox@racers.example' });
  const cookie = { cookie: `workflow_session=${session}`, origin: base };
  const links = [
    new AnswerLink('mail', 'link', 'mail@racers.example', ready, sql),
    new AnswerLink('chat', 'chat', 'racers', ready, sql),
  ];
  const programs = [
    new HttpContender('v1', 'api', ofRun(`${base}/v1`), { authorization: `Bearer ${key}` }),
    new HttpContender('cli', 'cli', ofRun(`${base}/api`), { authorization: `Bearer ${token}` }),
    new HttpContender('inbox', 'inbox', ofQuestion(`${base}/api`), cookie),
  ];
  const cancel = ({ runId }: RacedQuestion) =>
    known(`cancel ${runId}`, async () => {
      const headers = { authorization: `Bearer ${key}` };
      const { status, text } = await request(`${base}/v1/runs/${runId}/cancel`, { method: 'POST', headers });
      if (status === 503) return null;
      if (status !== 200 && status !== 202 && status !== 409) throw new Error(`cancel ${runId}: ${status} ${text}`);
      return true as const;
    }).then(() => undefined);
  return { all: [...programs, ...links], links, cancel };
}

class HttpContender implements Contender {
  constructor(
    readonly name: string,
    readonly channel: string,
    private readonly addressOf: (question: RacedQuestion) => Address,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  async prepare(question: RacedQuestion): Promise<Send> {
    const { runId } = question;
    const { url, named } = this.addressOf(question);
    const body = JSON.stringify({ answer: { who: this.name }, ...named });
    const headers = { ...this.headers, 'content-type': 'application/json' };
    return () =>
      known(`${this.name} ${runId}`, async () => {
        const { status, text } = await request(url, { method: 'POST', headers, body });
        if (status === 200) return 'accepted';
        if (status === 409 && REFUSALS.includes(JSON.parse(text).error)) return 'refused';
        if (status === 503) return null;
        throw new Error(`${this.name} ${runId}: ${status} ${text.slice(0, 300)}`);
      });
  }
}

class AnswerLink implements LinkContender {
  private readonly urls = new Map<string, string>();

  constructor(
    readonly name: string,
    readonly channel: string,
    /** An address, or a chat's name. */
    private readonly recipient: string,
    private readonly ready: ReadyLine,
    private readonly sql: Sql,
  ) {}

  async prepare({ runId, questionId }: RacedQuestion): Promise<Send> {
    const token = randomBytes(32).toString('base64url');
    await this.sql`
      insert into notifier.answer_links (org_id, token_sha256, run_id, question_id, recipient, expires_at)
      values (${this.ready.org_id}, ${createHash('sha256').update(token).digest()}, ${runId}, ${questionId},
        ${this.recipient}, now() + interval '1 hour')`;
    const url = `${this.ready.base_url}/a/${token}`;
    this.urls.set(questionId, url);
    const chosen = { nonce: hidden(await this.read(url), 'nonce'), '/who': this.name, read: 'yes' };
    const check = await this.read(url, { ...chosen, do: 'check' });
    const sent = { ...chosen, confirmation: hidden(check, 'confirmation'), do: 'send' };
    return () =>
      known(`${this.name} ${runId}`, async () => {
        const text = await this.read(url, sent);
        if (text.includes('Sent: ')) return 'accepted';
        // After a reply that was lost.
        if (text.includes(`through the ${this.through} <bdi>${this.recipient}<`)) return 'accepted';
        if (/not known whether your answer arrived|Not reachable just now/.test(text)) return null;
        if (ENDS.test(text)) return 'refused';
        throw new Error(`${this.name} ${runId}: ${text.slice(-2_000)}`);
      });
  }

  private get through(): string {
    return this.channel === 'chat' ? 'message in' : 'link sent to';
  }

  page({ questionId }: RacedQuestion): Promise<string> {
    return this.read(this.urls.get(questionId) ?? '');
  }

  /** Again while a part is down. */
  private async read(url: string, values?: Readonly<Record<string, string>>): Promise<string> {
    const init = values === undefined ? {} : { method: 'POST', body: new URLSearchParams(values) };
    return known(url, async () => {
      const { status, text } = await request(url, init);
      return status === 503 && !text.includes('not known whether') ? null : text;
    });
  }
}

const ENDS = /Answered: |answered first|came first|is answered\.|The run was cancelled|without an answer/;

/** Repeats a request while its outcome is unknown: null, or a broken connection. */
async function known<Outcome>(what: string, send: () => Promise<Outcome | null>): Promise<Outcome> {
  for (let n = 0; n < REPEATS_MAX; n++) {
    const outcome = await send().catch((error: unknown) => {
      if (error instanceof TypeError || (error as Error).name === 'TimeoutError') return null;
      throw error;
    });
    if (outcome !== null) return outcome;
    await elapse(REPEAT_AFTER_MS);
  }
  throw new Error(`${what}: its outcome stays unknown`);
}

async function request(url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  const reply = await fetch(url, { ...init, signal: AbortSignal.timeout(TRY_MS) });
  return { status: reply.status, text: await reply.text() };
}

/** Empty: the page has no form, since the question has ended. */
function hidden(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
}
