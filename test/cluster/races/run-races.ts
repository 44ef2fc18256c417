// Races for the answer of a question: all contenders at once, most while its deadline passes or a cancel arrives. What
// each of them gets, the run, its receipt, its row and the pages of its links must have one and the same outcome.
import type { Sql } from '@methods/postgres/pool';
import type { Random } from '../../chaos/random.ts';
import { elapse } from '../../harness/until.ts';
import type { Cluster } from '../cluster.ts';
import type { RunClient } from '../run-client.ts';
import { type Contenders, contenders } from './contenders.ts';
import { type JudgedRace, judgeRace } from './judge-race.ts';

export interface RaceOptions {
  readonly cluster: Cluster;
  readonly client: RunClient;
  readonly sql: Sql;
  readonly random: Random;
  readonly races: number;
  /** Races under way at a time. */
  readonly atOnce: number;
  /** Awaited while the races of every second group are under way, the first among them. */
  readonly strike: () => Promise<void>;
}

export interface RaceReport {
  /** How many races ended in each way. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Sentences; none when every race has one outcome. */
  readonly wrong: readonly string[];
}

/** What comes beside the answers. Without either, one of the answers counts. */
interface RaceKind {
  readonly method: string;
  readonly deadline: boolean;
  readonly cancel: boolean;
}

const KINDS: readonly RaceKind[] = [
  { method: 'raced', deadline: true, cancel: true },
  { method: 'raced', deadline: true, cancel: false },
  { method: 'raced-open', deadline: false, cancel: true },
  { method: 'raced-open', deadline: false, cancel: false },
];
const START_WAIT_MS = 10_000;
/** Answers are sent this long before the deadline at most: about as long as all of them take on a busy machine. */
const LEAD_MS = 300;
const SPREAD_MS = 1_000;
/** The page of a link reads its link and question before it answers: without a head start it would seldom come first. */
const LINK_HEAD_MS = 150;

export async function runRaces(options: RaceOptions): Promise<RaceReport> {
  const { cluster, sql, random, races, atOnce, strike } = options;
  const racers = await contenders(cluster.ready, sql);
  const outcomes = new Map<string, number>();
  const wrong: string[] = [];
  for (let begun = 0; begun < races; begun += atOnce) {
    const count = Math.min(atOnce, races - begun);
    const group = Array.from({ length: count }, (_, n) =>
      race(options, racers, KINDS[(begun + n) % KINDS.length] as RaceKind),
    );
    const isStruck = (begun / atOnce) % 2 === 0;
    const ends = (await Promise.all(group)).map((run) => run());
    const struck = isStruck ? elapse(random.whole(0, SPREAD_MS)).then(strike) : null;
    await Promise.all([struck, Promise.allSettled(ends)]);
    for (const { outcome, faults } of await Promise.all(ends)) {
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      wrong.push(...faults);
    }
  }
  return { outcomes, wrong };
}

/** Resolves when all are ready to answer, with what lets them. */
async function race(
  { client, cluster, sql, random }: RaceOptions,
  { all, links, cancel }: Contenders,
  kind: RaceKind,
): Promise<() => Promise<JudgedRace>> {
  const started = await client.start(kind.method, {}, START_WAIT_MS);
  const question = { runId: started.run_id, questionId: started.question?.id ?? '' };
  const ready = await Promise.all(all.map(async (each) => ({ each, send: await each.prepare(question) })));
  const order = ready.map((entry) => ({ ...entry, place: random.next() })).sort((a, b) => a.place - b.place);
  const deadlineMs = Date.parse(started.question?.deadline_at ?? '');
  const headMs = random.chance(0.5) ? random.whole(0, LINK_HEAD_MS) : 0;
  const beginsAtMs = kind.deadline
    ? deadlineMs - headMs - random.whole(0, LEAD_MS)
    : Date.now() + random.whole(0, SPREAD_MS);
  const cancelsFirst = random.chance(0.5);
  const cancelled = async () => {
    await elapse(headMs);
    await cancel(question);
  };
  return async () => {
    await elapse(Math.max(0, beginsAtMs - Date.now()));
    const first = kind.cancel && cancelsFirst ? cancelled() : null;
    const replies = order.map(async ({ each, send }) => {
      if (headMs > 0 && !links.some((link) => link === each)) await elapse(headMs);
      return { each, reply: await send() };
    });
    await Promise.all([first, kind.cancel && !cancelsFirst ? cancelled() : null, ...replies]);
    const accepted = (await Promise.all(replies)).filter(({ reply }) => reply === 'accepted').map(({ each }) => each);
    const run = await client.rest(question.runId, question.questionId);
    const pages = await Promise.all(links.map((link) => link.page(question)));
    const [row] = await sql<{ state: string }[]>`
      select state from scheduler.questions
      where run_id = ${question.runId} and org_id = ${cluster.ready.org_id} and question_id = ${question.questionId}`;
    return judgeRace({ ...question, ...kind, accepted, run, pages, state: row?.state ?? 'none' });
  };
}
