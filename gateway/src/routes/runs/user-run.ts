// A run as people see it: with the name of the key that started it, and why it does not move.
import { Run } from '@methods/api/run';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import { Type } from 'typebox';
import type { RunAddress } from '../../clients/watched-runs.ts';
import { isQueued, PENDING_REASONS, type PendingReason, pendingView } from '../../views/pending-view.ts';
import { runStateJson } from '../../views/run-view.ts';
import { type RunRouteParts, runJson } from './run-reply.ts';

const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

const Pending = Type.Object(
  {
    reason: Type.Unsafe<PendingReason>({ type: 'string', enum: [...PENDING_REASONS] }),
    since: Time,
    detail: Type.Object(
      {
        ahead: Type.Optional(Type.Integer({ description: 'Runs before it in its queue, at most 1,000.' })),
        ahead_more: Type.Optional(Type.Boolean({ description: 'There are more than these.' })),
        needs: Type.Optional(
          Type.Unsafe<string[] | number>({
            description: 'Of a queued run the features that it needs; of a question how many people have to agree.',
          }),
        ),
        attempts: Type.Optional(Type.Integer({ description: 'Attempts that have begun.' })),
        max_attempts: Type.Optional(Type.Integer()),
        until: Type.Optional(Time),
        step: Type.Optional(Type.String()),
        question_id: Type.Optional(Type.String()),
        assignee: Type.Optional(Type.String()),
        to: Type.Optional(Type.Array(Type.String())),
        votes_given: Type.Optional(Type.Integer()),
        due_at: Type.Optional(Time),
      },
      { description: 'What would move it. Fields that do not apply are absent.' },
    ),
  },
  { description: 'Why the run does not move; absent if it does, or has finished.' },
);

export const UserRun = Type.Object(
  {
    ...Run.properties,
    pending: Type.Optional(Pending),
    steps_left_out: Type.Optional(
      Type.Integer({ description: 'With steps=false: recorded steps that are not listed.' }),
    ),
  },
  { description: 'A run.' },
);

type Parts = Pick<RunRouteParts, 'registry' | 'clock' | 'longWork' | 'keyNames' | 'reads'>;

export async function userRunJson(
  parts: Parts,
  { orgId, runId }: Pick<RunAddress, 'orgId' | 'runId'>,
  found: RunView,
  leavesOutSteps: boolean,
): Promise<string> {
  const [[run = found], place] = await Promise.all([parts.keyNames.shownIn(orgId, [found]), placeOf()]);
  const pending = pendingView(run, place);
  const more = {
    ...(pending && { pending }),
    ...(leavesOutSteps && { steps: [], steps_left_out: run.steps.length }),
  };
  const json = leavesOutSteps ? runStateJson(run, parts.clock.wallMs()) : await runJson(parts, orgId, run);
  return Object.keys(more).length === 0 ? json : `${json.slice(0, -1)},${JSON.stringify(more).slice(1)}`;

  /** A run is shown without its place if that cannot be read now. */
  function placeOf() {
    return isQueued(found) ? parts.reads.parts.queuePlace({ orgId, runId }).catch(() => null) : null;
  }
}
