// Claims a run in the commit of the command that queues it: if a worker waits at this node and no older run of the
// queue does, a start or an answer needs no second commit.
import { type OrgId, type RunId, randomToken } from '@methods/base/ids';
import type { TellOutcome } from '../actor/run-actor.ts';
import type { RunActors } from '../actor/run-actors.ts';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import type { ReadyRuns } from '../queue/ready-runs.ts';
import type { Run, RunFacts } from '../run/run.ts';
import type { ClaimRun, RunCommand } from '../run/run-command.ts';
import { transition } from '../run/transition.ts';
import { queueOf } from '../store/queue-key.ts';
import type { GrantDesk } from '../worker-stream/grant-desk.ts';

export interface PreparedClaim {
  readonly command: ClaimRun;
  readonly creditId: number;
}

export class ClaimsAtOnce {
  constructor(
    private readonly options: {
      readonly nodeId: string;
      readonly actors: RunActors;
      readonly ready: Pick<ReadyRuns, 'isEmpty'>;
      readonly waiters: Pick<ClaimWaiters, 'reserve' | 'returned'>;
      readonly grants: Pick<GrantDesk, 'expect' | 'forget'>;
    },
  ) {}

  /** Reserves a place for the run until `ended`; null if the run has to wait. */
  prepare(facts: RunFacts): PreparedClaim | null {
    const { nodeId, ready, waiters, grants } = this.options;
    const key = queueOf(facts);
    if (!ready.isEmpty(key)) return null;
    const place = waiters.reserve(key);
    if (place === null) return null;
    const token = randomToken();
    const { workerSession, creditId } = place;
    grants.expect(token, { nodeId, creditId });
    return { command: { type: 'claim', token, workerSession, cleansUp: false }, creditId };
  }

  /** The grant of a successful claim has been sent by then. */
  ended({ command, creditId }: PreparedClaim, claimed: boolean): void {
    const wasGranted = this.options.grants.forget(command.token);
    if (!claimed && !wasGranted) this.options.waiters.returned(creditId);
  }

  /**
   * Passes a command to an actor of this node. An answer may be claimed in its own commit; `waiting` is the run that
   * the answer was checked against, for a run that no actor holds. The outcome shows the run as the answer left it:
   * queued.
   */
  async tell(orgId: OrgId, runId: RunId, command: RunCommand, waiting?: Run): Promise<TellOutcome> {
    const { actors } = this.options;
    const run = command.type === 'answer' ? (actors.resident({ runId, orgId }) ?? waiting) : undefined;
    if (run?.status !== 'waiting') return actors.tell(orgId, runId, command);
    const claim = this.prepare(run.facts);
    if (claim === null) return actors.tell(orgId, runId, command);
    const [told, claimed] = actors.tellAndClaim({ orgId, runId }, command, claim.command);
    void claimed.then((end) => this.ended(claim, end.kind === 'accepted'));
    const outcome = await told;
    if (outcome.kind !== 'accepted') return outcome;
    return { ...outcome, run: beforeClaim(outcome.run, claim) ?? asAnswered(run, command, outcome.run) };
  }
}

/** Returns null if the run changed further in its commit than by the claim. */
function beforeClaim(run: Run, { command }: PreparedClaim): Run | null {
  if (run.status !== 'running' || run.token !== command.token) return null;
  const { workerSession: _, cancelRequested: __, ...rest } = run;
  return { ...rest, status: 'queued' };
}

/** Returns the run as the answer left it. Watchers get the newer `after` from its commit. */
function asAnswered(waiting: Run, command: RunCommand, after: Run): Run {
  const decision = transition(waiting, command, after.stateSinceMs);
  const isSame = decision.kind === 'changed' && decision.run.status === 'queued' && after.revision > waiting.revision;
  return isSame ? { ...decision.run, revision: after.revision - 1 } : after;
}
