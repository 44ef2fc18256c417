// Keeps for half a minute the runs with waiters here that the run-scheduler reported: the waiters get their run from
// here, and so does a GET of a finished run. A finished run that its waiter has got is not kept: views that outlive
// their request are most of what the collector has to mark. Bounded by bytes, of which each organization has a share.

import type { Clock } from '@methods/base/clock';
import type { OrgId, RunId } from '@methods/base/ids';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { isFinished } from '../views/run-view.ts';

const KEPT_MS = 30_000;
const BYTES_MAX = 64 * 1024 * 1024;
const BYTES_PER_ORGANIZATION_MAX = 16 * 1024 * 1024;
/**
 * Evicts this share beyond the excess: a search for the oldest passes over all evicted before, and must not be made for
 * each run.
 */
const SLACK = 1 / 16;
const OWNERS_MAX = 50_000;

interface Kept {
  readonly run: RunView;
  readonly orgId: OrgId | null;
  readonly bytes: number;
  readonly atMs: number;
}

export class PushedRuns {
  private readonly kept = new Map<RunId, Kept>();
  private keptBytes = 0;
  /** By organization, oldest first; unclaimed runs are under the empty name. */
  private readonly shares = new Map<OrgId | '', { readonly runIds: Set<RunId>; bytes: number }>();
  // A push does not name its organization; the caller's start or watch, which the scheduler has checked, does.
  private readonly owners = new Map<RunId, OrgId>();

  constructor(private readonly clock: Clock) {}

  get bytes(): number {
    return this.keptBytes;
  }

  /** The scheduler has returned this run to a caller of this organization. */
  belongs(orgId: OrgId, runId: RunId): void {
    const known = this.kept.get(runId);
    if (known && known.orgId !== orgId) {
      this.drop(runId);
      this.keep({ ...known, orgId });
    }
    if (known && isFinished(known.run)) return;
    this.owners.set(runId, orgId);
    if (this.owners.size > OWNERS_MAX) this.owners.delete(this.owners.keys().next().value as RunId);
  }

  /** Reports whether the run belongs to the organization and has not finished since. */
  isAwaited(orgId: OrgId, runId: RunId): boolean {
    return this.owners.get(runId) === orgId;
  }

  put(run: RunView): void {
    const before = this.kept.get(run.runId);
    if (before && before.run.revision >= run.revision) return;
    this.drop(run.runId);
    const orgId = this.owners.get(run.runId) ?? before?.orgId ?? null;
    if (isFinished(run)) this.owners.delete(run.runId);
    this.keep({ run, orgId, bytes: estimatedBytes(run), atMs: this.clock.monotonicMs() });
  }

  /** The scheduler has returned this view to a caller of this organization. */
  read(run: RunView, orgId: OrgId): void {
    if (!isFinished(run) || this.finished(orgId, run.runId) !== null) return;
    this.drop(run.runId);
    this.keep({ run, orgId, bytes: estimatedBytes(run), atMs: this.clock.monotonicMs() });
  }

  /** Returns the latest pushed state, of any owner: only for a caller that just got this run from the scheduler. */
  latest(runId: RunId): RunView | null {
    return this.kept.get(runId)?.run ?? null;
  }

  /** Returns the run if it has finished and belongs to this organization. A finished run never changes. */
  finished(orgId: OrgId, runId: RunId): RunView | null {
    const known = this.kept.get(runId);
    return known && known.orgId === orgId && isFinished(known.run) ? known.run : null;
  }

  /** A waiting caller gets this view: a finished run has no other reader, usually. */
  delivered({ runId, revision }: RunView): void {
    const known = this.kept.get(runId)?.run;
    if (known?.revision === revision && isFinished(known)) this.drop(runId);
  }

  /** Drops entries that are too old; the oldest come first. */
  trim(): void {
    const oldestMs = this.clock.monotonicMs() - KEPT_MS;
    const bytesMax = downFrom(BYTES_MAX, this.keptBytes);
    for (const [runId, { atMs }] of this.kept) {
      if (atMs > oldestMs && this.keptBytes <= bytesMax) return;
      this.drop(runId);
    }
  }

  private keep(kept: Kept): void {
    const { run, orgId, bytes } = kept;
    const share = this.shares.get(orgId ?? '') ?? { runIds: new Set<RunId>(), bytes: 0 };
    this.shares.set(orgId ?? '', share);
    this.kept.set(run.runId, kept);
    this.keptBytes += bytes;
    share.runIds.add(run.runId);
    share.bytes += bytes;
    if (share.bytes > BYTES_PER_ORGANIZATION_MAX) this.shorten(share);
    if (this.keptBytes > BYTES_MAX) this.trim();
  }

  private shorten(share: { readonly runIds: ReadonlySet<RunId>; readonly bytes: number }): void {
    const bytesMax = downFrom(BYTES_PER_ORGANIZATION_MAX, share.bytes);
    for (const runId of share.runIds) {
      if (share.bytes <= bytesMax) return;
      this.drop(runId);
    }
  }

  private drop(runId: RunId): void {
    const kept = this.kept.get(runId);
    if (kept === undefined) return;
    this.kept.delete(runId);
    this.keptBytes -= kept.bytes;
    const share = this.shares.get(kept.orgId ?? '');
    if (share === undefined) return;
    share.runIds.delete(runId);
    share.bytes -= kept.bytes;
    if (share.runIds.size === 0) this.shares.delete(kept.orgId ?? '');
  }
}

function downFrom(max: number, bytes: number): number {
  return bytes > max ? max * (1 - SLACK) : max;
}

// Texts count two bytes a character; the constants are for the objects around them.
function estimatedBytes(run: RunView): number {
  let characters = run.resultJson.length + (run.error?.message.length ?? 0);
  const { question } = run;
  if (question) {
    characters += question.prompt.length + question.details.length + question.formJson.length + question.sealed.length;
    for (const shown of question.show) characters += shown.path.length + shown.valueJson.length;
  }
  for (const [name, value] of Object.entries(run.metadata)) characters += name.length + value.length;
  for (const step of run.steps) {
    characters += 150 + (step.error?.message.length ?? 0);
    for (const check of step.checks) characters += 100 + check.name.length + check.message.length;
  }
  return 1_000 + 2 * characters;
}
