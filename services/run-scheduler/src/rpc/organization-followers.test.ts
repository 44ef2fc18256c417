import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { RunStatus } from '@methods/proto/run/v1/run_pb';
import { NewsDetail, QuestionChange } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { leastCpuMs } from '@methods/test/harness/cpu-time';
import { ManualClock } from '../manual-clock.fixture.ts';
import type { Receipt } from '../run/receipt.ts';
import { person, runs } from '../run/run.fixture.ts';
import type { OpenQuestion, Run, StepSummary } from '../run/run.ts';
import { OrganizationFollowers } from './organization-followers.ts';
import type { OrganizationNews } from './organization-news.ts';

const ORG = 'org_a';
const { RESTS, CHANGES } = NewsDetail;

function step(path: string, changes: Partial<StepSummary> = {}): StepSummary {
  return {
    ...{ path, kind: 'node', status: 'succeeded', attempt: 1, startedAtMs: 1, finishedAtMs: 2, runningMs: 1 },
    ...{ waitingMs: 0, checks: [], error: null },
    ...changes,
  };
}

function as<R extends Run>(run: R, n: number, changes: Partial<R> = {}): R {
  return { ...run, facts: { ...run.facts, runId: `run_${n}` }, ...changes };
}

class Gateway {
  got: OrganizationNews[] = [];
  hasRoom = true;

  news(news: OrganizationNews): boolean {
    if (this.hasRoom) this.got.push(news);
    return this.hasRoom;
  }

  /** Returns the news since the last call. */
  take(): OrganizationNews[] {
    return this.got.splice(0);
  }
}

describe('followers of an organization', () => {
  let clock: ManualClock;
  let followers: OrganizationFollowers;
  let gateway: Gateway;

  beforeEach(() => {
    clock = new ManualClock();
    followers = new OrganizationFollowers(clock);
    gateway = new Gateway();
  });

  test('of rests get each run that waits or has finished, with its content, and none of another organization', () => {
    followers.follow(ORG, RESTS, gateway);
    assert.deepEqual(gateway.take(), [{ orgId: ORG, detail: RESTS, began: true }]);
    for (const run of [runs.queued, runs.running, runs.waiting, runs.sleeping, runs.succeeded]) {
      followers.committed(runs.queued, run);
    }
    const foreign = { ...runs.succeeded, facts: { ...runs.succeeded.facts, orgId: 'org_b' as const } };
    followers.committed(null, foreign);
    const [asked, done, ...more] = gateway.take();
    assert.deepEqual([asked?.run?.question?.prompt, done?.run?.resultJson], ['Go on?', runs.succeeded.resultJson]);
    assert.deepEqual(more, []);
  });

  test('get what happens to a question: each change of one moment, in order, and without content', () => {
    const secret = 'do not show';
    const { waiting } = runs;
    const open = { ...waiting, question: { ...waiting.question, prompt: secret } } satisfies Run;
    const as = (change: Partial<OpenQuestion>): Run => ({ ...open, question: { ...open.question, ...change } });
    const vote = { by: person('ann'), answerJson: JSON.stringify(secret), atMs: 1, channel: null, comment: secret };
    const receipt = { questionId: 'q_1' } as unknown as Receipt;
    const changes: [before: Run, after: Run, told: unknown[]][] = [
      [runs.running, open, [QuestionChange.ASKED, 'q_1', '', 0]],
      [open, as({ assignee: 'usr_ann', votes: [vote] }), [QuestionChange.CHANGED, 'q_1', 'usr_ann', 1]],
      [open, as({ reminders: 1 }), [QuestionChange.REMINDED, 'q_1', '', 0]],
      [as({ reminders: 1 }), as({ reminders: 1, escalatedAtMs: 7 }), [QuestionChange.ESCALATED, 'q_1', '', 0]],
      [open, { ...runs.queued, answers: [receipt] }, [QuestionChange.ANSWERED, 'q_1', '', 0]],
      [open, runs.cancelled, [QuestionChange.CANCELLED, 'q_1', '', 0]],
      [open, runs.failed, [QuestionChange.EXPIRED, 'q_1', '', 0]],
      // The run failed, and cleans up.
      [open, runs.ending, [QuestionChange.EXPIRED, 'q_1', '', 0]],
    ];
    followers.follow(ORG, RESTS, gateway);
    const people = new Gateway();
    followers.follow(ORG, CHANGES, people);
    for (const each of [gateway, people]) each.take();
    const shown = (news: OrganizationNews[]) =>
      news.flatMap(({ questions = [] }) =>
        questions.map(({ change, questionId, assignee, votes }) => [change, questionId, assignee, votes]),
      );
    for (const [before, after] of changes) followers.committed(before, after);
    assert.deepEqual(
      shown(gateway.take()),
      changes.map(([, , told]) => told),
    );
    // News of questions does not wait for the changes of runs.
    const seen = people.take();
    assert.deepEqual(
      shown(seen),
      changes.map(([, , told]) => told),
    );
    assert.equal(JSON.stringify(seen).includes(secret), false);
    clock.forward(100);
    assert.deepEqual(shown(people.take()), []);
    // The run continues with another question in the same commit.
    followers.committed(open, { ...as({ id: 'q_2' }), answers: [receipt] } as Run);
    assert.deepEqual(shown(gateway.take()), [
      [QuestionChange.ANSWERED, 'q_1', '', 0],
      [QuestionChange.ASKED, 'q_2', '', 0],
    ]);
  });

  test('of questions that change too fast for people get a hundred at once, and are asked to look again', () => {
    followers.follow(ORG, CHANGES, gateway);
    gateway.take();
    for (let n = 0; n < 5_000; n++) followers.committed(as(runs.running, n), as(runs.waiting, n));
    const questions = gateway.take().filter((news) => news.questions !== undefined);
    assert.equal(questions.length, 101);
    clock.forward(100);
    assert.deepEqual(gateway.take(), [{ orgId: ORG, detail: CHANGES, missed: true }]);
    // Slightly more than that wait for the next push.
    clock.forward(1_000);
    for (let n = 0; n < 3; n++) followers.committed(as(runs.running, n), as(runs.waiting, n));
    assert.equal(gateway.take().filter((news) => news.questions !== undefined).length, 3);
  });

  test('of changes get every state without content; those of a run within a tenth of a second are combined', () => {
    followers.follow(ORG, CHANGES, gateway);
    gateway.take();
    const secret = 'do not show';
    const error = { kind: 'exit', message: secret, status: 0, line: 1 };
    const states: [Run, Run][] = [
      [runs.queued, runs.running],
      [runs.running, { ...runs.running, steps: [step('one', { error, status: 'failed' })] }],
      [
        { ...runs.running, steps: [step('one')] },
        { ...runs.waiting, steps: [step('one'), step('two')], question: { ...runs.waiting.question, prompt: secret } },
      ],
    ];
    for (const [before, after] of states) followers.committed(before, after);
    const first = gateway.take();
    // The question is pushed without waiting.
    assert.deepEqual([first.length, first[1]?.questions?.[0]?.questionId], [2, 'q_1']);
    assert.deepEqual(
      first.slice(0, 1).map(({ run }) => [run?.status, run?.steps?.length]),
      [[RunStatus.RUNNING, 0]],
    );
    clock.forward(100);
    const second = gateway.take();
    assert.deepEqual(
      second.map(({ run }) => [run?.status, run?.question?.id, run?.steps?.map(({ path }) => path)]),
      [[RunStatus.WAITING, 'q_1', ['one', 'two', 'second']]],
    );
    clock.forward(100);
    followers.committed(runs.running, { ...runs.succeeded, resultJson: JSON.stringify(secret) });
    clock.forward(100);
    followers.committed(runs.running, { ...runs.failed, error: { ...runs.failed.error, message: secret } });
    const all = JSON.stringify([...first, ...second, ...gateway.take()]);
    assert.equal(all.includes(secret), false, all);
  });

  test('of an organization that changes too fast for people are asked to look again, and get no more', () => {
    followers.follow(ORG, CHANGES, gateway);
    followers.committed(null, as(runs.queued, 0));
    gateway.take();
    for (let n = 0; n < 5_000; n++) followers.committed(null, as(runs.queued, n));
    clock.forward(100);
    assert.deepEqual(gateway.take(), [{ orgId: ORG, detail: CHANGES, missed: true }]);
    clock.forward(100);
    followers.committed(null, as(runs.queued, 1));
    assert.equal(gateway.take()[0]?.run?.runId, 'run_1');
  });

  test('a gateway that does not read gets one notice when it reads again, and then later news', () => {
    followers.follow(ORG, RESTS, gateway);
    gateway.take();
    gateway.hasRoom = false;
    for (let n = 0; n < 100; n++) followers.committed(null, as(runs.succeeded, n));
    followers.room(gateway);
    gateway.hasRoom = true;
    followers.room(gateway);
    followers.room(gateway);
    followers.committed(null, as(runs.succeeded, 100));
    assert.deepEqual(
      gateway.take().map(({ missed = false, run }) => [missed, run?.runId]),
      [
        [true, undefined],
        [false, 'run_100'],
      ],
    );
  });

  test('changes that the node may have missed are announced to all; one that stops or is gone gets nothing', () => {
    const [other, gone] = [new Gateway(), new Gateway()];
    for (const [receiver, detail] of [
      [gateway, RESTS],
      [gateway, CHANGES],
      [other, RESTS],
      [gone, CHANGES],
    ] as const) {
      followers.follow(ORG, detail, receiver);
    }
    followers.committed(null, runs.queued);
    followers.committed(null, runs.running);
    followers.stop(ORG, RESTS, other);
    followers.gone(gone);
    for (const { got } of [gateway, other, gone]) got.length = 0;
    followers.missed();
    followers.committed(runs.running, runs.succeeded);
    clock.forward(1_000);
    assert.deepEqual(
      [gateway, other, gone].map(({ got }) => got.map(({ detail, missed = false }) => [detail, missed])),
      [
        [
          [RESTS, true],
          [CHANGES, true],
          [RESTS, false],
          [CHANGES, false],
        ],
        [],
        [],
      ],
    );
  });

  test('a run of many steps is pushed without them', () => {
    followers.follow(ORG, RESTS, gateway);
    followers.follow(ORG, CHANGES, gateway);
    gateway.take();
    const steps = Array.from({ length: 30_000 }, (_, n) => step(`each[${n}]`));
    followers.committed({ ...runs.running, steps }, { ...runs.succeeded, steps });
    assert.deepEqual(
      gateway.take().map(({ run, stepsLeftOut }) => [run?.steps, stepsLeftOut]),
      [
        [[], true],
        [[], true],
      ],
    );
  });

  test('while no one follows its organization a commit costs next to nothing', () => {
    followers.follow('org_b', RESTS, gateway);
    const tookMs = leastCpuMs(20, () => {
      for (let n = 0; n < 100_000; n++) followers.committed(runs.running, runs.succeeded);
    });
    assert.ok(tookMs < 20, `100,000 commits took ${tookMs} ms`);
  });
});
