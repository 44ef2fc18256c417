// The organizations whose runs are followed here: every node pushes what it commits for them. While some shards may
// belong to a node that does not push (it died, is unavailable, or is of an earlier release), changes may be missing,
// and the follower is notified of that.

import type { Clock, Timer } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { NewsDetail, OrganizationNews, QuestionNews } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { SchedulerNode } from './scheduler-node.ts';

export interface OrganizationFollower {
  /** A state of a run. States of one run may arrive out of order, and twice. */
  run(run: RunView, stepsLeftOut: boolean): void;
  /** What happened to the questions of a run, in order. */
  questions(changes: readonly QuestionNews[]): void;
  /** Everything committed from here on arrives, or `missed` is called. */
  began(): void;
  /** Changes committed before this may be missing. */
  missed(): void;
}

interface Followed {
  readonly orgId: OrgId;
  readonly detail: NewsDetail;
  readonly follower: OrganizationFollower;
  /** Nodes that were asked on their present stream. */
  readonly asked: Set<SchedulerNode>;
  /** Nodes among them that push. */
  readonly pushing: Set<SchedulerNode>;
  begun: boolean;
  /** Commits of a node may be missing. */
  doubtful: boolean;
  /** Monotonic ms of the follower's last notification of that. */
  toldAtMs: number;
}

const LOOK_EVERY_MS = 200;
/** While some shards have no node that pushes, the follower is notified this often. */
const MISSED_EVERY_MS = 5_000;
/** A follower waits at most this long for all nodes. */
const BEGIN_MS = 2_000;

export class FollowedOrganizations {
  private readonly followed = new Map<string, Followed>();
  private nodes: readonly SchedulerNode[] = [];
  private timer: Timer | null = null;

  constructor(private readonly clock: Clock) {}

  use(nodes: readonly SchedulerNode[]): void {
    this.nodes = nodes;
  }

  /** Adds the only follower of an organization and detail. Returns a function that ends it. */
  follow(orgId: OrgId, detail: NewsDetail, follower: OrganizationFollower): () => void {
    const key = keyOf(orgId, detail);
    const followed: Followed = {
      ...{ orgId, detail, follower, asked: new Set(), pushing: new Set() },
      ...{ begun: false, doubtful: false, toldAtMs: this.clock.monotonicMs() },
    };
    this.followed.set(key, followed);
    for (const node of this.nodes) this.ask(followed, node);
    this.timer ??= this.clock.after(LOOK_EVERY_MS, () => this.sweep());
    return () => {
      if (this.followed.get(key) !== followed) return;
      this.followed.delete(key);
      for (const node of followed.asked) node.follow(orgId, detail, true);
    };
  }

  /** The node's shards have changed, or its stream is new. */
  onStatus(node: SchedulerNode): void {
    for (const followed of this.followed.values()) {
      this.ask(followed, node);
      this.look(followed);
    }
  }

  onLost(node: SchedulerNode): void {
    for (const followed of this.followed.values()) {
      followed.asked.delete(node);
      if (followed.pushing.delete(node)) followed.doubtful = true;
    }
  }

  onNews(node: SchedulerNode, { orgId, detail, run, stepsLeftOut, began, missed, questions }: OrganizationNews): void {
    const followed = this.followed.get(keyOf(orgId, detail));
    if (followed === undefined) return;
    if (began) {
      followed.pushing.add(node);
      this.look(followed);
    }
    if (missed) this.tellMissed(followed);
    if (run !== undefined) followed.follower.run(run, stepsLeftOut);
    if (questions.length > 0) followed.follower.questions(questions);
  }

  /** Called every 200 ms while there are any. */
  sweep(): void {
    this.timer?.cancel();
    this.timer = this.followed.size === 0 ? null : this.clock.after(LOOK_EVERY_MS, () => this.sweep());
    for (const followed of this.followed.values()) this.look(followed);
  }

  private ask(followed: Followed, node: SchedulerNode): void {
    if (node.rank === 0 || followed.asked.has(node)) return;
    if (node.follow(followed.orgId, followed.detail, false)) followed.asked.add(node);
  }

  private look(followed: Followed): void {
    const sinceMs = this.clock.monotonicMs() - followed.toldAtMs;
    if (!isWhole(followed)) {
      // A shard that moves between two nodes belongs to none for a moment; a shard of a node unknown here, for longer.
      followed.doubtful = followed.begun;
      if (sinceMs >= (followed.begun ? MISSED_EVERY_MS : BEGIN_MS)) this.tellMissed(followed);
      return;
    }
    if (followed.doubtful) this.tellMissed(followed);
    if (followed.begun) return;
    followed.begun = true;
    followed.follower.began();
  }

  private tellMissed(followed: Followed): void {
    followed.begun = true;
    followed.doubtful = false;
    followed.toldAtMs = this.clock.monotonicMs();
    followed.follower.missed();
  }
}

/** Reports whether all shards belong to nodes that push. */
function isWhole({ pushing }: Followed): boolean {
  let owned = 0;
  let all = 0;
  for (const { shards } of pushing) {
    owned += shards.owned;
    all = Math.max(all, shards.all);
  }
  return all > 0 && owned >= all;
}

function keyOf(orgId: OrgId, detail: NewsDetail): string {
  return `${detail} ${orgId}`;
}
