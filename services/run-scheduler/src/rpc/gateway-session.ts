// One gateway's stream: calls arrive as items; replies and pushed views are sent as items. Each succeeds or fails by
// itself.
import type { OrgId, RunId } from '@methods/base/ids';
import { toErrorDetail } from '@methods/errors/error-detail';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type {
  AnswerRun,
  ExchangeResponseSchema,
  GatewayItem,
  StartRun,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { FrameConnection, SentItem } from '@methods/rpc/frame-stream';
import { LargeItems } from '@methods/rpc/large-items';
import type { RunActors } from '../actor/run-actors.ts';
import type { RunOwners } from '../bus/run-owners.ts';
import type { QueueInterests } from '../queue/queue-interests.ts';
import type { Run } from '../run/run.ts';
import type { RunLists } from '../store/run-lists.ts';
import { isViewAtRest, type RunViewMessage, runView } from '../wire/run-message.ts';
import type { AnswerRuns } from './answer-run.ts';
import { getRun, getStart } from './get-run.ts';
import { listRuns } from './lists.ts';
import type { NewsReceiver, OrganizationFollowers } from './organization-followers.ts';
import type { OrganizationNews } from './organization-news.ts';
import { isAtRest, type RunWatchers, type ViewReceiver } from './run-watchers.ts';
import { lookupRun } from './start-run.ts';

export type NodeItemInit = SentItem<typeof ExchangeResponseSchema>;

export interface GatewayServices {
  readonly actors: RunActors;
  readonly answers: AnswerRuns;
  readonly owners: RunOwners;
  readonly watchers: RunWatchers;
  readonly followers: OrganizationFollowers;
  readonly interests: Pick<QueueInterests, 'whyQueued'>;
  readonly lists: Pick<RunLists, 'page'>;
  /** Starts a run here, or on a peer that owns shards. */
  readonly start: (
    request: StartRun,
    deadlineMs: number,
    onId: (runId: RunId) => void,
    /** Whether the caller still waits. */
    wanted: () => boolean,
  ) => Promise<StartReply>;
  readonly logger: Logger;
}

export interface StartReply {
  /** Writes the run as the start left it. */
  readonly view: () => RunViewMessage;
  readonly replayed: boolean;
}

interface Reply {
  readonly view: RunViewMessage;
  readonly replayed: boolean;
  /** In the reply to an answer: the run's next rest will be pushed. */
  readonly watched?: boolean;
}

/** While the gateway has this much unread, it gets no news of organizations: replies have priority. */
const NEWS_UNREAD_BYTES_MAX = 4 << 20;

export class GatewaySession implements ViewReceiver, NewsReceiver {
  private open = true;
  /** Runs whose start has no reply yet, and what was to be pushed of them meanwhile: the reply carries it. */
  private readonly starting = new Map<RunId, RunViewMessage | null>();
  private readonly out: LargeItems<NodeItemInit>;

  constructor(
    private readonly connection: FrameConnection<NodeItemInit>,
    private readonly services: GatewayServices,
  ) {
    this.out = new LargeItems(connection);
  }

  received(items: readonly GatewayItem[]): void {
    for (const item of items) void this.answer(item);
  }

  closed(): void {
    this.open = false;
    this.services.watchers.gone(this);
    this.services.followers.gone(this);
  }

  /** The gateway has read something. */
  taken(): void {
    this.out.taken();
    this.services.followers.room(this);
  }

  news(value: OrganizationNews): boolean {
    const item: NodeItemInit = { callId: 0, item: { case: 'news', value } };
    if (value.began) return this.out.send('', item) === 'sent';
    if (this.connection.bufferedBytes >= NEWS_UNREAD_BYTES_MAX) return false;
    return this.out.send(value.orgId ?? '', item) === 'sent';
  }

  /** A large run of an organization that has too many in flight is left to its gateway's next request. */
  push(view: RunViewMessage, orgId: OrgId): void {
    const { runId } = view;
    if (runId !== undefined && this.starting.has(runId)) return void this.starting.set(runId, view);
    this.out.send(orgId, { callId: 0, item: { case: 'push', value: view } });
  }

  private async answer(call: GatewayItem): Promise<void> {
    try {
      if (call.item.case === 'list') {
        const page = await listRuns(this.services.lists, call.item.value);
        return this.reply(call, { case: 'page', value: page });
      }
      if (call.item.case === 'getStart') {
        const start = await getStart(this.services.actors, call.item.value);
        return this.reply(call, { case: 'start', value: start });
      }
      const reply = await this.handle(call);
      if (reply === null) return;
      const { view: run, replayed, watched = false } = reply;
      this.reply(call, { case: 'run', value: { run, replayed, watched } });
    } catch (error) {
      const known = asServiceError(error);
      if (known.code === 'internal') {
        this.services.logger.error({ err: error, request: call.requestId, call: call.item.case }, 'call failed');
      }
      this.out.send('', { callId: call.callId, item: { case: 'error', value: toErrorDetail(known) } });
    }
  }

  /** @throws rate_limited if the organization has too many large replies in flight */
  private reply({ callId, item: asked }: GatewayItem, item: NonNullable<NodeItemInit['item']>): void {
    const orgId = asked.value !== undefined && 'orgId' in asked.value ? asked.value.orgId : '';
    if (this.out.send(orgId, { callId, item }) !== 'full') return;
    // The change happened, so it is reported in any case.
    const isChange = asked.case === 'start' || asked.case === 'answer' || asked.case === 'cancel';
    if (isChange && this.out.send('', { callId, item }) !== 'full') return;
    throw new ServiceError('rate_limited', 'Too many large runs of the organization are being read.', {
      facts: { share: 'organization' },
      retryAfterMs: 1_000,
    });
  }

  private async handle(call: GatewayItem): Promise<Reply | null> {
    const { actors, owners, watchers, followers } = this.services;
    const { item } = call;
    switch (item.case) {
      case 'start':
        return this.start(item.value, call.deadlineMs, !call.unwatched);
      case 'get':
        return plain(this.view(await getRun(actors, item.value)));
      case 'answer':
        return this.answerRun(item.value, !call.unwatched);
      case 'cancel':
        return plain(await owners.tell(item.value.orgId, item.value.runId, { type: 'cancel' }));
      case 'lookup':
        return { view: this.view(await lookupRun(actors, item.value)), replayed: true };
      case 'watch': {
        // Watches before reading: a change between the two is pushed, not missed.
        const { runId, orgId, steps, knownRevision } = item.value;
        const isNew = watchers.watch(orgId, runId, this, steps);
        // The watcher of a run that is not at rest needs nothing yet, so the actor's state is enough, even if another
        // node has taken the run unnoticed.
        const known = steps ? null : actors.resident({ runId, orgId });
        if (known !== null && !isAtRest(known)) return plain(this.view(known));
        try {
          if (knownRevision > 0) {
            const place = await actors.place(runId);
            if (place?.orgId === orgId && place.revision === knownRevision)
              return plain(unchanged(runId, knownRevision));
          }
          return plain(this.view(await getRun(actors, { runId, orgId })));
        } catch (error) {
          // A request for another organization's run must not end that organization's watch.
          if (isNew) watchers.unwatch(runId, this);
          throw error;
        }
      }
      case 'unwatch':
        watchers.unwatch(item.value.runId, this);
        return null;
      case 'follow': {
        const { orgId, detail, stop } = item.value;
        if (stop) followers.stop(orgId, detail, this);
        else followers.follow(orgId, detail, this);
        return null;
      }
      default:
        throw new ServiceError('invalid_request', 'This node does not know that call.');
    }
  }

  /**
   * If a caller of the gateway waits, or waited for the run before, the gateway usually needs the next rest too: it
   * gets it without another call.
   */
  private async answerRun(request: AnswerRun, watch: boolean): Promise<Reply> {
    const { watchers, answers } = this.services;
    const { runId, orgId } = request;
    const place = watch ? watchers.answeredBy(orgId, runId, this) : 'full';
    try {
      const view = await answers.answer(request);
      // A repeated answer: the run is at rest already, and may stay so.
      const rests = isViewAtRest(view);
      if (rests && place === 'new') watchers.unwatch(runId, this);
      else if (place !== 'full') watchers.answeredAt(runId, this, view.revision ?? 0);
      return { view, replayed: false, watched: !rests && place !== 'full' };
    } catch (error) {
      if (place === 'new') watchers.unwatch(runId, this);
      else if (place === 'known') watchers.answeredAt(runId, this, 0);
      throw error;
    }
  }

  private view(run: Run): RunViewMessage {
    const reason = this.services.interests.whyQueued(run);
    return reason === null ? runView(run) : { ...runView(run), queuedReason: reason };
  }

  /**
   * Watches the run before anything can happen to it, and ends the watch if the start does not create it. A run that
   * rests by then is sent once, in the reply.
   */
  private async start(request: StartRun, deadlineMs: number, watch: boolean): Promise<Reply> {
    const { watchers, start } = this.services;
    const untilMs = deadlineMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + deadlineMs;
    const wanted = () => this.open && performance.now() < untilMs;
    if (!watch) {
      const { view, replayed } = await start(request, deadlineMs, () => {}, wanted);
      return { view: view(), replayed };
    }
    let watched: RunId | '' = '';
    let started: string | undefined = '';
    try {
      const onId = (runId: RunId) => {
        watched = runId;
        this.starting.set(runId, null);
        watchers.startedBy(request.orgId, runId, this);
      };
      const { view, replayed } = await start(request, deadlineMs, onId, wanted);
      const rested = replayed || watched === '' ? null : this.starting.get(watched);
      const shown = rested ?? view();
      started = shown.runId;
      return { view: shown, replayed };
    } finally {
      if (watched !== '') this.starting.delete(watched);
      if (watched !== '' && watched !== started) watchers.unwatch(watched, this);
    }
  }
}

/** A gateway that has this revision needs no more of the run. */
function unchanged(runId: RunId, revision: number): RunViewMessage {
  return { runId, revision };
}

function plain(view: RunViewMessage): Reply {
  return { view, replayed: false };
}
