// One run's actor: takes the run's commands one at a time, lets the rules decide, passes the change to the committer,
// and only after the commit replies and runs the effects. Commands that arrive during a commit are decided together
// next and share one commit.
import { Mailbox } from '@methods/actors/mailbox';
import { Backoff } from '@methods/base/backoff';
import type { OrgId, RunId } from '@methods/base/ids';
import type { Decision, Effect, NewStep, RefusalCode, RunEventName } from '../run/decision.ts';
import { timerOf } from '../run/question.ts';
import type { Run } from '../run/run.ts';
import type { RunCommand } from '../run/run-command.ts';
import { transition } from '../run/transition.ts';
import type { OutboxEvent } from '../store/run-store.ts';
import type { ChangeOutcome, SubmittedChange } from './committer.ts';

export type TellOutcome =
  | { readonly kind: 'accepted'; readonly run: Run; readonly changed: boolean }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly run: Run | null }
  | { readonly kind: 'failed'; readonly code: FailureCode };

/** `wrong_shard`: ask the new owner. `unavailable`: the outcome is unknown; the command may be repeated. */
export type FailureCode = 'wrong_shard' | 'unavailable' | 'key_taken' | 'invalid_request';

export interface Envelope {
  /** If another organization owns the run, it is refused as missing. Null: the message is one of our own. */
  readonly orgId: OrgId | null;
  readonly command: RunCommand;
  /** For a start: returns false once its caller has gone. */
  readonly wanted?: (() => boolean) | undefined;
  readonly reply: (outcome: TellOutcome) => void;
}

/** The parts of its node that an actor uses. */
export interface ActorHost {
  load(runId: RunId): Promise<Run | null>;
  submit(change: SubmittedChange): Promise<ChangeOutcome>;
  pause(ms: number): Promise<void>;
  nowMs(): number;
  /** Reports whether such an event of the run has a listener. Events without one are not kept. */
  isHeard(run: Run, event: RunEventName): boolean;
  eventFor(run: Run, effect: Effect & { type: 'emit' }): OutboxEvent;
  /** After a commit: the run changed from `before` to `after`. */
  committed(before: Run | null, after: Run, effects: readonly Effect[], events: readonly OutboxEvent[]): void;
  /** The actor has nothing to do; `run` is the state it holds. */
  settled(actor: RunActor, run: Run | null): void;
}

/** How often the same commands are decided again after the row differs from the expected one. */
const ROUNDS_MAX = 4;

export class RunActor {
  private readonly mailbox = new Mailbox<Envelope>();
  /** The committed run; undefined while cold. */
  private run: Run | null | undefined;
  private working = false;
  private dropped = false;
  /** The decision about a run that was granted before its commit, until it is committed. */
  private early: Decided | null = null;
  /** Its commit waits for the worker's report. */
  private isHeld = false;

  constructor(
    readonly runId: RunId,
    private readonly host: ActorHost,
    known?: Run | null,
    /**
     * The run's steps have no effect outside of it, so it may be granted before a commit. False if that is not known.
     */
    readonly onlyComputes = false,
  ) {
    this.run = known;
  }

  get committedRun(): Run | null {
    return this.run ?? null;
  }

  /** The run as its worker knows it; it may be uncommitted. */
  get grantedRun(): Run | null {
    return this.early?.after ?? this.committedRun;
  }

  /**
   * Returns the run after the commands, to be granted now. They are committed together with the worker's report, or by
   * `commitNow`. Null: they are decided like any others.
   */
  tellEarly(envelopes: readonly Envelope[]): Run | null {
    if (this.dropped || this.working || this.run === undefined) {
      for (const envelope of envelopes) this.tell(envelope);
      return null;
    }
    for (const envelope of envelopes) this.put(envelope);
    this.working = true;
    this.isHeld = true;
    this.early = decideAll(this.run, envelopes, this.host);
    return this.early.after;
  }

  /** Returns false if nothing waits for the commit. */
  commitNow(): boolean {
    if (!this.isHeld) return false;
    this.isHeld = false;
    setImmediate(() => void this.work());
    return true;
  }

  tell(envelope: Envelope): void {
    if (!this.put(envelope)) return;
    // Another report follows a step's record.
    if (this.isHeld && envelope.command.type !== 'record_step') this.commitNow();
    if (this.working) return;
    this.working = true;
    // The rest of this turn may bring more commands for the same run.
    setImmediate(() => void this.work());
  }

  /** Returns false if the envelope was refused; its caller has then got the reply. */
  private put(envelope: Envelope): boolean {
    if (!this.dropped && this.mailbox.put(envelope)) return true;
    envelope.reply({ kind: 'failed', code: this.dropped ? 'wrong_shard' : 'unavailable' });
    return false;
  }

  /** The node lost the shard: waiting commands go to the new owner, those in flight are settled by their commit. */
  drop(): void {
    this.dropped = true;
    for (const envelope of this.mailbox.takeAll()) envelope.reply({ kind: 'failed', code: 'wrong_shard' });
  }

  private async work(): Promise<void> {
    let rounds = 0;
    while (this.mailbox.size > 0) {
      const taken = this.mailbox.takeAll();
      try {
        const settled = await this.handle(taken, rounds);
        rounds = settled ? 0 : rounds + 1;
      } catch {
        // The store could not be read, or an assertion failed: the state cannot be trusted.
        this.run = undefined;
        for (const envelope of taken) envelope.reply({ kind: 'failed', code: 'unavailable' });
      }
    }
    this.working = false;
    this.early = null;
    this.host.settled(this, this.run ?? null);
  }

  /** Returns false when the envelopes went back to the mailbox to be decided again. */
  private async handle(taken: readonly Envelope[], rounds: number): Promise<boolean> {
    const before = this.run === undefined ? await this.host.load(this.runId) : this.run;
    this.run = before;
    const decided = this.decide(before, taken);
    if (decided.after === before || decided.after === null) {
      reply(decided.replies, before);
      return true;
    }
    const after = { ...decided.after, revision: (before?.revision ?? 0) + 1 };
    const events = decided.effects.filter((e) => e.type === 'emit').map((e) => this.host.eventFor(after, e));
    const { steps } = decided;
    const { wanted } = taken[0] as Envelope;
    const outcome = await this.host.submit({ before, after, steps, events, dueMs: dueOf(before, after), wanted });
    switch (outcome) {
      case 'done':
        this.happened(before, after, decided, events);
        return true;
      case 'unknown':
        if (await this.happenedUnheard(before, after, decided, events)) return true;
        return this.again(decided, rounds);
      case 'moved_on':
        this.run = undefined;
        return this.again(decided, rounds);
      default:
        this.run = undefined;
        this.early = null;
        this.mailbox.putBack(decided.rest);
        fail(decided.replies, failureOf(outcome));
        return true;
    }
  }

  /** The state that the worker knows was decided before. */
  private decide(before: Run | null, taken: readonly Envelope[]): Decided {
    const begun = this.early;
    if (begun === null || begun.replies.some(({ envelope }, i) => envelope !== taken[i])) {
      return decideAll(before, taken, this.host);
    }
    return decideAll(before, taken.slice(begun.replies.length), this.host, begun);
  }

  private happened(before: Run | null, after: Run, decided: Decided, events: readonly OutboxEvent[]): void {
    this.run = after;
    this.early = null;
    this.mailbox.putBack(decided.rest);
    this.host.committed(before, after, decided.effects, events);
    reply(decided.replies, after);
  }

  /**
   * Handles a commit without a reply. Its shard now has a new epoch of ours, so no other node can have written: if the
   * row is as the change would leave it, the change happened, and all its effects are still due.
   */
  private async happenedUnheard(
    before: Run | null,
    after: Run,
    decided: Decided,
    events: readonly OutboxEvent[],
  ): Promise<boolean> {
    this.run = undefined;
    const run = await this.loadPatiently();
    if (run === null || this.dropped || !isSameState(run, after)) return false;
    this.happened(before, after, decided, events);
    return true;
  }

  /**
   * Also returns null when the shard was lost. It retries for long: if it gave up, a claim that did happen would wait
   * until its lease ends.
   */
  private async loadPatiently(): Promise<Run | null> {
    const again = new Backoff({ firstMs: 50, maxMs: 1_000, jitter: 0.5 });
    while (!this.dropped) {
      try {
        return await this.host.load(this.runId);
      } catch {
        await this.host.pause(again.nextMs());
      }
    }
    return null;
  }

  /** Returns decided changes that did not happen to the mailbox, to be decided again a few times. */
  private again(decided: Decided, rounds: number): boolean {
    this.early = null;
    this.mailbox.putBack(decided.rest);
    if (rounds >= ROUNDS_MAX || this.dropped) {
      fail(decided.replies, 'unavailable');
      return true;
    }
    this.mailbox.putBack(decided.replies.map(({ envelope }) => envelope));
    return false;
  }
}

interface Replies {
  readonly envelope: Envelope;
  readonly decision: Decision;
}

interface Decided {
  readonly after: Run | null;
  readonly effects: Effect[];
  readonly steps: NewStep[];
  readonly replies: Replies[];
  readonly rest: readonly Envelope[];
}

/**
 * Lets the rules decide over all envelopes in order. Stops after the first that emits an event (one event a commit,
 * besides the end of a question, which has its own id), and before a claim of a run that was running.
 */
function decideAll(
  before: Run | null,
  envelopes: readonly Envelope[],
  host: ActorHost,
  begun: Decided | null = null,
): Decided {
  const nowMs = host.nowMs();
  let after = begun === null ? before : begun.after;
  const effects: Effect[] = [...(begun?.effects ?? [])];
  const steps: NewStep[] = [...(begun?.steps ?? [])];
  const replies: Replies[] = [...(begun?.replies ?? [])];
  for (let i = 0; i < envelopes.length; i++) {
    const envelope = envelopes[i] as Envelope;
    // The end of the last claim must be visible in a commit of its own: between two claims a run is in the queue.
    if (envelope.command.type === 'claim' && before?.status === 'running' && after?.status === 'queued') {
      return { after, effects, steps, replies, rest: envelopes.slice(i) };
    }
    const foreign = envelope.orgId !== null && after !== null && after.facts.orgId !== envelope.orgId;
    const decision = transition(foreign ? null : after, envelope.command, nowMs);
    replies.push({ envelope, decision });
    if (decision.kind !== 'changed') continue;
    after = decision.run;
    const due = decision.effects.filter((e) => e.type !== 'emit' || host.isHeard(decision.run, e.event));
    effects.push(...due);
    steps.push(...decision.steps);
    if (due.some((e) => e.type === 'emit' && e.event !== 'question.closed')) {
      return { after, effects, steps, replies, rest: envelopes.slice(i + 1) };
    }
  }
  return { after, effects, steps, replies, rest: [] };
}

/** A question's time and a wake must not be committed before their time by the database's own clock. */
function dueOf(before: Run | null, after: Run): number {
  if (before?.status === 'sleeping' && after.status !== 'cancelled') return before.wakeAtMs;
  if (before?.status === 'queued' && after.status === 'failed') return before.ending?.byMs ?? 0;
  return timerOf(before, after);
}

function reply(replies: readonly Replies[], run: Run | null): void {
  for (const { envelope, decision } of replies) {
    // To the caller, a run of another organization is missing.
    if (decision.kind === 'refused' && decision.code === 'not_found') {
      envelope.reply({ kind: 'refused', code: 'not_found', run: null });
    } else if (decision.kind === 'refused') envelope.reply({ kind: 'refused', code: decision.code, run });
    else if (decision.kind === 'changed' && decision.refusal !== undefined) {
      envelope.reply({ kind: 'refused', code: decision.refusal, run });
    } else if (run === null) envelope.reply({ kind: 'refused', code: 'not_found', run });
    else envelope.reply({ kind: 'accepted', run, changed: decision.kind === 'changed' });
  }
}

function isSameState(run: Run, after: Run): boolean {
  return (
    run.revision === after.revision &&
    run.status === after.status &&
    run.token === after.token &&
    run.lastSeq === after.lastSeq
  );
}

function fail(replies: readonly Replies[], code: FailureCode): void {
  for (const { envelope } of replies) envelope.reply({ kind: 'failed', code });
}

function failureOf(outcome: ChangeOutcome): FailureCode {
  if (outcome === 'lost_shard') return 'wrong_shard';
  if (outcome === 'key_taken') return 'key_taken';
  if (outcome === 'invalid') return 'invalid_request';
  return 'unavailable';
}
