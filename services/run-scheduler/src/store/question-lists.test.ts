import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { OrganizationReader, readerRole } from '@methods/postgres/organization-reader';
import { openPool, type Sql } from '@methods/postgres/pool';
import { explaining, type RowCounts } from '@methods/test/harness/plan-rows';
import { ASKED_MS, fillQuestions, questionIdOf } from './open-questions.fixture.ts';
import { type QuestionFilter, QuestionLists, type QuestionPage, type QuestionPlace } from './question-lists.ts';
import { TestStore } from './run-store.fixture.ts';
import { pageSettings } from './scheduler-database.ts';

const QUESTIONS = 30_000;
/** When the newest question with a deadline is due. */
const LAST_DUE_MS = ASKED_MS + 1_000_000 + QUESTIONS;

const ALL: QuestionFilter = {
  orgId: 'org_a',
  answerBy: ['team'],
  assignees: null,
  method: '',
  dueBeforeMs: null,
};

describe('lists of many open questions', () => {
  let db: TestStore;
  let sql: Sql;
  let reader: OrganizationReader;
  let lists: QuestionLists;

  before(async () => {
    db = await TestStore.open();
    // As a node reads pages.
    sql = openPool({
      url: db.url,
      applicationName: 'test',
      max: 1,
      statementTimeoutMs: 60_000,
      settings: pageSettings,
    });
    reader = new OrganizationReader({ sql, role: readerRole('scheduler') });
    lists = new QuestionLists({ reader, deadlineMs: 60_000, lookedAtMax: 2_000, countMax: 500 });
    await fillQuestions(db.sql, 'org_a', QUESTIONS);
    await fillQuestions(db.sql, 'org_b', 300);
  });
  after(async () => {
    await sql.end({ timeout: 1 });
    await db.close();
  });

  function page(
    filter: Partial<QuestionFilter>,
    after: QuestionPlace | null = null,
    limit = 50,
  ): Promise<QuestionPage> {
    return lists.page({ ...ALL, ...filter }, after, limit);
  }

  async function pages(filter: Partial<QuestionFilter>): Promise<QuestionPage[]> {
    const all: QuestionPage[] = [];
    let next: QuestionPlace | null = null;
    do {
      const one: QuestionPage = await page(filter, next, 200);
      all.push(one);
      next = one.next;
    } while (next !== null);
    return all;
  }

  const idsOf = (all: readonly QuestionPage[]) => all.flatMap(({ questions }) => questions.map((q) => q.question_id));
  const numbers = (select: (n: number) => boolean, most = QUESTIONS) =>
    Array.from({ length: most }, (_, i) => i + 1).filter(select);

  test('the first page has the newest questions of the team, and the next page follows it', async () => {
    const newest = numbers((n) => n % 10 !== 9).reverse();
    const first = await page({});
    assert.deepEqual(idsOf([first]), newest.slice(0, 50).map(questionIdOf));
    assert.deepEqual(idsOf([await page({}, first.next)]), newest.slice(50, 100).map(questionIdOf));
    assert.deepEqual(
      idsOf([await page({ answerBy: ['team', 'application'] })]),
      numbers(() => true)
        .reverse()
        .slice(0, 50)
        .map(questionIdOf),
    );
  });

  test('all pages of a filter hold each of its questions once, even if they read many others', async () => {
    const filters: [Partial<QuestionFilter>, number[]][] = [
      [{ assignees: ['usr_3'] }, numbers((n) => n % 1_000 === 300)],
      [{ assignees: ['usr_3', 'usr_4'] }, numbers((n) => n % 1_000 === 300 || n % 1_000 === 400)],
      [{ method: 'wf_rare' }, numbers((n) => n % 1_000 === 0)],
      [{ method: 'wf_rare', assignees: [''] }, []],
      [{ method: 'wf_rare', assignees: ['usr_0'] }, numbers((n) => n % 1_000 === 0)],
      [{ answerBy: ['application'], assignees: ['usr_3'] }, []],
      [{ orgId: 'org_b', assignees: ['usr_1', ''] }, numbers((n) => n % 10 !== 9 && (n % 100 !== 0 || n === 100), 300)],
    ];
    for (const [filter, expected] of filters) {
      assert.deepEqual(idsOf(await pages(filter)), expected.reverse().map(questionIdOf), JSON.stringify(filter));
    }
    const due: [Partial<QuestionFilter>, number[]][] = [
      [{ dueBeforeMs: LAST_DUE_MS - 25_000 }, numbers((n) => n % 2 === 0 && n % 10 !== 9, 4_999)],
      [
        { dueBeforeMs: LAST_DUE_MS, method: 'wf_rare', assignees: ['usr_0'] },
        numbers((n) => n % 1_000 === 0, QUESTIONS - 1),
      ],
    ];
    for (const [filter, expected] of due) {
      assert.deepEqual(idsOf(await pages(filter)), expected.map(questionIdOf), JSON.stringify(filter));
    }
  });

  test('counts stop when they would read too many', async () => {
    assert.deepEqual(await lists.count({ ...ALL, assignees: ['usr_3'] }), { count: 30, more: false });
    assert.deepEqual(await lists.count(ALL), { count: 500, more: true });
    assert.deepEqual(await lists.count({ ...ALL, assignees: [''], method: 'wf_rare' }), { count: 0, more: true });
    assert.deepEqual(await lists.count({ ...ALL, orgId: 'org_b' }), { count: 270, more: false });
    assert.deepEqual(await lists.count({ ...ALL, orgId: 'org_c' }), { count: 0, more: false });
  });

  test('a page reads what it shows or, with more conditions, a bounded number, before and after the table is analyzed', async () => {
    const reads = async (filter: Partial<QuestionFilter>, after: QuestionPlace | null) => {
      const counts: RowCounts[] = [];
      const explained = {
        read: (orgId, work) => reader.read(orgId, (inner) => work(explaining(inner, counts))),
      } as OrganizationReader;
      const watched = new QuestionLists({ reader: explained, deadlineMs: 60_000, lookedAtMax: 2_000, countMax: 500 });
      await watched.page({ ...ALL, ...filter }, after, 50);
      await watched.count({ ...ALL, ...filter });
      return counts;
    };
    const middle = { dueAtMs: null, questionId: questionIdOf(15_000) };
    const middleDue = { dueAtMs: ASKED_MS + 1_015_000, questionId: questionIdOf(15_000) };
    for (const when of ['not analyzed', 'analyzed']) {
      if (when === 'analyzed') await db.sql`analyze scheduler.questions`;
      const filters: [Partial<QuestionFilter>, QuestionPlace | null, statements: number][] = [
        [{}, null, 2],
        [{}, middle, 2],
        [{ answerBy: ['team', 'application'] }, null, 4],
        [{ assignees: [''] }, middle, 2],
        [{ assignees: ['usr_3', 'usr_4'] }, null, 4],
        [{ method: 'wf_usual' }, middle, 2],
        [{ dueBeforeMs: LAST_DUE_MS }, null, 2],
        [{ dueBeforeMs: LAST_DUE_MS }, middleDue, 2],
      ];
      for (const [filter, after, statements] of filters) {
        const counts = await reads(filter, after);
        assert.equal(counts.length, statements);
        for (const [i, { read, blocks }] of counts.entries()) {
          const max = i < counts.length / 2 ? 51 : 501;
          assert.ok(
            read <= max && blocks <= 2 * max,
            `${when}, ${JSON.stringify(filter)}: ${read} rows, ${blocks} blocks`,
          );
        }
      }
      for (const filter of [
        { method: 'wf_rare', assignees: [''] },
        { method: 'wf_rare', dueBeforeMs: LAST_DUE_MS },
      ] as const) {
        const [reach, rows, count, ...more] = await reads(filter, null);
        assert.deepEqual(more, []);
        for (const one of [reach, rows])
          assert.ok(one && one.read <= 2_000 && one.blocks <= 4_000, JSON.stringify(one));
        assert.ok(count && count.read <= 501, JSON.stringify(count));
      }
    }
  });

  test('long lists of addresses end a page before its message grows too large', async () => {
    await fillQuestions(db.sql, 'org_c', 100);
    const to = Array.from({ length: 50 }, (_, n) => `${n}${'x'.repeat(2_000)}@example.com`);
    await db.sql`update scheduler.questions set people_json = ${JSON.stringify({ to, notStarter: false, needs: 0 })}
      where org_id = 'org_c'`;
    const all = await pages({ orgId: 'org_c' });
    assert.ok(all.length > 3 && all.every(({ questions }) => questions.length <= 21), `${all.length} pages`);
    assert.equal(new Set(idsOf(all)).size, 90);
  });
});
