// Tracks which gateways follow which organizations, and sends them the news of each commit. Without followers, a commit
// costs one comparison. A gateway that does not read, or that follows an organization that changes faster than people
// look, gets one notice that something is missing instead of the news.

import type { Clock } from '@methods/base/clock';
import type { OrgId } from '@methods/base/ids';
import { NewsDetail } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { Run } from '../run/run.ts';
import { changeNews, type OrganizationNews, type QuestionNews, questionNews, restNews } from './organization-news.ts';
import { Pace } from './pace.ts';
import { isAtRest } from './run-watchers.ts';

export interface NewsReceiver {
  /** False: it has no room for the news, which is lost. */
  news(news: OrganizationNews): boolean;
}

interface Following {
  /** Identifies the gateway's process. */
  readonly id: string;
  readonly orgId: OrgId;
  readonly detail: NewsDetail;
  readonly receiver: NewsReceiver;
  /** Runs that changed since the last push: their states then and now. */
  changed: Map<string, Changed>;
  /** Changes of questions pushed since then; these do not wait. */
  questions: number;
}

interface Changed {
  readonly before: Run | null;
  after: Run;
  questions: readonly QuestionNews[];
}

/** A change is pushed at once, and later ones at most this often. */
const CHANGES_EVERY_MS = 100;
const CHANGES_MAX = 100;

export class OrganizationFollowers {
  private readonly following = new Map<string, Following[]>();
  /** Followers that have not been notified of missed news. */
  private readonly owed = new Set<Following>();
  private readonly pace: Pace;
  private lastId = 0;

  constructor(clock: Clock) {
    this.pace = new Pace(clock);
  }

  /** Follows from here on. A repeated request begins again. */
  follow(orgId: OrgId, detail: NewsDetail, receiver: NewsReceiver): void {
    if (this.find(orgId, detail, receiver) === undefined) {
      const following = { id: String(++this.lastId), orgId, detail, receiver, changed: new Map(), questions: 0 };
      this.following.set(orgId, [...(this.following.get(orgId) ?? []), following]);
    }
    receiver.news({ orgId, detail, began: true });
  }

  stop(orgId: OrgId, detail: NewsDetail, receiver: NewsReceiver): void {
    const following = this.find(orgId, detail, receiver);
    if (following !== undefined) this.remove(following);
  }

  gone(receiver: NewsReceiver): void {
    for (const each of [...this.following.values()].flat()) if (each.receiver === receiver) this.remove(each);
  }

  /** Handles a run that this node committed. */
  committed(before: Run | null, after: Run): void {
    if (this.following.size === 0) return;
    const following = this.following.get(after.facts.orgId);
    if (following === undefined) return;
    const rests = isAtRest(after);
    const questions = questionNews(before, after);
    for (const each of following) {
      if (each.detail === NewsDetail.CHANGES) this.gather(each, before, after, questions);
      else if (rests) this.push(each, withQuestions(restNews(after, each.detail), questions));
      else if (questions.length > 0)
        this.push(each, withQuestions({ orgId: each.orgId, detail: each.detail }, questions));
    }
  }

  /** A commit may have happened without a reply to this node. */
  missed(): void {
    for (const each of [...this.following.values()].flat()) this.owe(each);
  }

  /** The receiver has read something. */
  room(receiver: NewsReceiver): void {
    if (this.owed.size === 0) return;
    for (const each of [...this.owed]) if (each.receiver === receiver) this.owe(each);
  }

  private gather(following: Following, before: Run | null, after: Run, questions: readonly QuestionNews[]): void {
    const { changed, orgId, detail } = following;
    const { runId } = after.facts;
    // A person waits for them, and a page that shows them reads again: not a tenth of a second later.
    const atOnce = questions.length > 0 && following.questions < CHANGES_MAX;
    if (atOnce) {
      following.questions += questions.length;
      this.push(following, withQuestions({ orgId, detail }, questions));
    }
    const later = atOnce ? [] : questions;
    const known = changed.get(runId);
    if (known !== undefined) {
      known.after = after;
      if (later.length > 0) known.questions = [...known.questions, ...later];
    }
    // One more than are pushed shows that there are too many.
    else if (changed.size <= CHANGES_MAX) changed.set(runId, { before, after, questions: later });
    this.pace.run(following.id, CHANGES_EVERY_MS, () => this.tell(following));
  }

  private tell(following: Following): void {
    const { changed, detail } = following;
    following.changed = new Map();
    following.questions = 0;
    if (changed.size > CHANGES_MAX) return this.owe(following);
    for (const { before, after, questions } of changed.values()) {
      this.push(following, withQuestions(changeNews(before, after, detail), questions));
    }
  }

  private push(following: Following, news: OrganizationNews): void {
    if (this.owed.has(following)) this.owe(following);
    else if (!following.receiver.news(news)) this.owed.add(following);
  }

  private owe(following: Following): void {
    const { orgId, detail, receiver } = following;
    if (receiver.news({ orgId, detail, missed: true })) this.owed.delete(following);
    else this.owed.add(following);
  }

  private find(orgId: OrgId, detail: NewsDetail, receiver: NewsReceiver): Following | undefined {
    return this.following.get(orgId)?.find((each) => each.receiver === receiver && each.detail === detail);
  }

  private remove(following: Following): void {
    this.pace.forget(following.id);
    this.owed.delete(following);
    const rest = (this.following.get(following.orgId) ?? []).filter((each) => each !== following);
    if (rest.length > 0) this.following.set(following.orgId, rest);
    else this.following.delete(following.orgId);
  }
}

function withQuestions(news: OrganizationNews, questions: readonly QuestionNews[]): OrganizationNews {
  return questions.length === 0 ? news : ({ ...news, questions: [...questions] } as OrganizationNews);
}
