import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { systemClock } from '@methods/base/clock';
import type { OrgId, RunId } from '@methods/base/ids';
import { NewsDetail, type OrganizationNews } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { FollowedOrganizations } from './followed-organizations.ts';
import type { SchedulerNode } from './scheduler-node.ts';

const { RESTS } = NewsDetail;

class Node {
  rank = 4;
  asked: boolean[] = [];

  constructor(
    public shards: { owned: number; all: number },
    private readonly takes = true,
  ) {}

  follow(_orgId: string, _detail: NewsDetail, stop: boolean): boolean {
    if (this.takes) this.asked.push(stop);
    return this.takes;
  }
}

describe('a followed organization', () => {
  let nowMs: number;
  let organizations: FollowedOrganizations;
  let heard: string[];
  const follower = {
    run: ({ runId }: { runId: RunId }) => void heard.push(runId),
    began: () => void heard.push('began'),
    questions: () => {},
    missed: () => void heard.push('missed'),
  };

  beforeEach(() => {
    nowMs = 0;
    heard = [];
    organizations = new FollowedOrganizations({ ...systemClock, monotonicMs: () => nowMs });
  });

  function nodes(...all: Node[]): SchedulerNode[] {
    organizations.use(all as unknown as SchedulerNode[]);
    return all as unknown as SchedulerNode[];
  }

  function news(node: SchedulerNode | undefined, more: Partial<OrganizationNews>, orgId: OrgId = 'org_a'): void {
    assert.ok(node);
    const empty = { stepsLeftOut: false, began: false, missed: false, questions: [] };
    const $typeName = 'methods.scheduler.v1.OrganizationNews';
    organizations.onNews(node, { $typeName, orgId, detail: RESTS, ...empty, ...more });
  }

  function forward(ms: number): void {
    nowMs += ms;
    organizations.sweep();
  }

  function following(...all: Node[]): SchedulerNode[] {
    const made = nodes(...all);
    organizations.follow('org_a', RESTS, follower);
    for (const node of made) news(node, { began: true });
    return made;
  }

  test('begins when all shards belong to nodes that push', () => {
    const [a, b] = nodes(new Node({ owned: 100, all: 256 }), new Node({ owned: 156, all: 256 }));
    organizations.follow('org_a', RESTS, follower);
    news(a, { began: true });
    assert.deepEqual(heard, []);
    news(b, { began: true });
    forward(60_000);
    assert.deepEqual(heard, ['began']);
  });

  test('begins after a while if a node does not push, and has its follower ask periodically', () => {
    // A node of an earlier release, one that takes nothing, and shards of a node that is unknown here.
    const [, node] = nodes(
      new Node({ owned: 100, all: 0 }),
      new Node({ owned: 100, all: 256 }),
      new Node({ owned: 0, all: 256 }, false),
    );
    organizations.follow('org_a', RESTS, follower);
    news(node, { began: true });
    for (let ms = 0; ms <= 12_000; ms += 100) forward(100);
    assert.deepEqual(heard, ['missed', 'missed', 'missed']);
  });

  test('has its follower ask once when a node is lost, as soon as its shards have owners that push', () => {
    const dead = new Node({ owned: 128, all: 256 });
    const alive = new Node({ owned: 128, all: 256 });
    const [lost, owner] = following(dead, alive);
    assert.ok(lost && owner);
    dead.shards = { owned: 0, all: 0 };
    organizations.onLost(lost);
    forward(1_500);
    assert.deepEqual(heard, ['began']);
    alive.shards = { owned: 256, all: 256 };
    organizations.onStatus(owner);
    forward(60_000);
    assert.deepEqual(heard, ['began', 'missed']);
    assert.deepEqual(alive.asked, [false]);
  });

  test('asks a node again on its new stream', () => {
    const node = new Node({ owned: 256, all: 256 });
    const [link] = following(node);
    assert.ok(link);
    node.rank = 0;
    organizations.onLost(link);
    organizations.onStatus(link);
    node.rank = 4;
    organizations.onStatus(link);
    organizations.onStatus(link);
    news(link, { began: true });
    assert.deepEqual(
      [node.asked, heard],
      [
        [false, false],
        ['began', 'missed'],
      ],
    );
  });

  test('gets its runs, is notified of what a node missed, and gets nothing after the follower leaves', () => {
    const node = new Node({ owned: 256, all: 256 });
    const [link] = nodes(node);
    const stop = organizations.follow('org_a', RESTS, follower);
    news(link, { began: true });
    const run = { runId: 'run_1' } as unknown as NonNullable<OrganizationNews['run']>;
    news(link, { run });
    news(link, { run }, 'org_b');
    news(link, { missed: true });
    stop();
    stop();
    news(link, { run });
    forward(60_000);
    assert.deepEqual(
      [heard, node.asked],
      [
        ['began', 'run_1', 'missed'],
        [false, true],
      ],
    );
  });
});
