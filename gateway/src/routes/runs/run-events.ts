// GET …/runs/:id/events: sends the run as it is and then every change of its steps and status, as Server-Sent Events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { OrgId } from '@methods/base/ids';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { FastifyInstance } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { atOnce } from '../../turns/steps.ts';
import { type ToldRun, toldRun } from '../../views/run-events.ts';
import { isFinished, isLongRun } from '../../views/run-view.ts';
import type { DeclaredStep } from '../../views/step-view.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { mayStillRead } from './event-streams.ts';
import { describedRun, type RunSurface, runShown } from './run-acts.ts';
import { declaredSteps, type RunRouteParts, runIdOf, STEP_BYTES } from './run-reply.ts';
import { RunParams } from './run-schemas.ts';

const ACCESS = 'viewer';

const DESCRIPTION = `First \`run\`, the whole run as GET returns it; then \`step\`, one entry of its \`steps\`, for every step that changed, and \`status\`, the run without its steps, whenever anything else of it changed. Steps that change within a tenth of a second may be sent together. An event's id is the run's revision: with \`Last-Event-ID\` the stream continues from there, with the whole run if anything was missed. The stream ends when the run has finished; a reader that reconnects then gets a 204. It may end at any time before that: reconnect with the last id. \`dropped\` says why the server ended it: \`slow\`, the reader did not read, or \`unauthorized\`, the credential has lost its right. A comment is sent every 15 s.`;

const EventText = {
  description: 'Events `run`, `step`, `status`, `dropped`.',
  content: { 'text/event-stream': { schema: Type.String() } },
} as unknown as TSchema;

export function addRunEvents(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const schema = {
    ...describedRun(surface, 'followRun', 'Follow a run as it changes'),
    description: DESCRIPTION,
    params: RunParams,
    querystring: NoQuery,
    headers: Type.Object({
      'last-event-id': Type.Optional(Type.String({ description: 'The id of the last event received.' })),
    }),
    response: replies({
      200: EventText,
      204: Type.Null({ description: 'The run has finished, and all events were sent.' }),
    }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get(`${surface.url}/:id/events`, { schema, config: { access: ACCESS } }, async (request, reply) => {
      const caller = callerOf(request);
      const { orgId } = caller;
      const address = { orgId, runId: runIdOf(request.params), requestId: request.id };
      const known = revisionOf(request.headers['last-event-id']);
      const stream = parts.eventStreams.enter(caller, () => mayStillRead(scope, request, ACCESS));
      try {
        const { run, stop } = await parts.scheduler.followRun(address, stream);
        try {
          const [steps] = await Promise.all([declaredSteps(parts, orgId, run), runShown(request, parts, run.runId)]);
          // A higher number was never sent: to continue from it would hide every change below it, and the end.
          const isUpToDate = known === run.revision;
          if (isFinished(run) && isUpToDate) {
            stop();
            stream.body.destroy();
            return await reply.code(204).send();
          }
          const resumed = isUpToDate ? { revision: known, told: await told(orgId, run, steps) } : null;
          stream.begin(resumed, steps, stop);
          stream.changed(run);
        } catch (error) {
          stop();
          throw error;
        }
      } catch (error) {
        stream.body.destroy();
        throw error;
      }
      reply.headers({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // Proxies that buffer a whole reply would delay every event.
        'x-accel-buffering': 'no',
      });
      return reply.send(stream.body);
    });

  function told(orgId: OrgId, run: RunView, steps: readonly DeclaredStep[]): ToldRun | Promise<ToldRun> {
    const work = toldRun(run, steps);
    return isLongRun(run) ? parts.longWork.run(orgId, run.steps.length * STEP_BYTES, work) : atOnce(work);
  }
}

/** -1 when nothing is known. An id that is not ours is ignored, as the standard requires. */
function revisionOf(lastEventId: string | undefined): number {
  return lastEventId !== undefined && /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) : -1;
}
