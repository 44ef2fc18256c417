// GET /v1/events and GET /api/events: what happens to all runs of an organization, as Server-Sent Events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Caller } from '@methods/auth/caller';
import type { FastifyInstance } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Audience } from '../../events/organization-log.ts';
import { callerOf } from '../../plugins/caller.ts';
import { replies } from '../reply-schemas.ts';
import { mayStillRead } from '../runs/event-streams.ts';
import type { RunRouteParts } from '../runs/run-reply.ts';
import { EventReader } from './event-reader.ts';

const ACCESS = 'viewer';

const STREAM = `The first event is \`ready\`, or \`resync\` where the id that the reader brings is not known any more. From then on everything comes, or a \`resync\`: something before it may be missing, so read again what you need. Each event has an id: with \`Last-Event-ID\`, or \`?since=\`, the stream continues after it. Events are kept for 5 minutes, up to 16 MiB an organization. The stream may end at any time: come back with the last id. \`dropped\` gives the reason where the server ended it: \`slow\`, the reader did not read, or \`unauthorized\`, the credential has lost its right. A comment goes out every 15 s.`;

const QUESTIONS = `\`question\` comes when a run asks, \`question.changed\` when the question is assigned, delegated or gets a vote, \`question.reminded\` and \`question.escalated\` at its times, \`question.closed\` with the \`reason\` \`answered\`, \`expired\` or \`cancelled\`: with the run, and the question’s id, step, times, assignee and votes.`;

const PROGRAMS = `\`run\` comes whenever a run of the organization begins to wait or finishes: the run as GET gives it; one with more than 500 steps comes without \`steps\`. ${QUESTIONS} A person's sign-in gets the events of /api/events instead. ${STREAM}`;

const PEOPLE = `\`run\` comes whenever a run of the organization changes: the run as lists give it, with \`changed_steps\` and, while it waits, \`question\` (its id, step and times; read the run for the rest). Changes of a run within a tenth of a second come together. \`method\` comes when a method was made or a version was published, \`build\` when the build of a recording has ended, \`delivery\` when a delivery was tried, \`key\` when a key was made or revoked, \`workers\` when workers have connected or left. ${QUESTIONS} ${STREAM}`;

const EventText = {
  description:
    'Events `ready`, `run`, `question`, `question.changed`, `question.reminded`, `question.escalated`, `question.closed`, `method`, `resync`, `dropped`.',
  content: { 'text/event-stream': { schema: Type.String() } },
} as unknown as TSchema;

const EventsQuery = Type.Object(
  { since: Type.Optional(Type.String({ description: 'The id of the last event that came.' })) },
  { additionalProperties: false },
);

interface EventSurface {
  readonly url: '/v1/events' | '/api/events';
  readonly operationId: string;
  readonly description: string;
}

export const PROGRAM_EVENTS: EventSurface = {
  url: '/v1/events',
  operationId: 'followOrganization',
  description: PROGRAMS,
};
export const PEOPLE_EVENTS: EventSurface = {
  url: '/api/events',
  operationId: 'followOrganizationAsUser',
  description: PEOPLE,
};

/** For a scope whose routes have callers. */
export function addOrganizationEvents(
  scope: FastifyInstance,
  { eventStreams, organizationLogs, clock }: Pick<RunRouteParts, 'eventStreams' | 'organizationLogs' | 'clock'>,
  { url, operationId, description }: EventSurface,
): void {
  const schema = {
    operationId,
    summary: 'Follow all runs of the organization',
    tags: [url === '/v1/events' ? 'runs' : 'runs of users'],
    description,
    querystring: EventsQuery,
    headers: Type.Object({
      'last-event-id': Type.Optional(Type.String({ description: 'The id of the last event that came.' })),
    }),
    response: replies({ 200: EventText }),
  };
  scope.withTypeProvider<TypeBoxTypeProvider>().get(url, { schema, config: { access: ACCESS } }, (request, reply) => {
    const caller = callerOf(request);
    const { orgId } = caller;
    const leave = eventStreams.take(caller);
    let reader: EventReader;
    try {
      reader = organizationLogs.enter(orgId, audienceOf(caller), (log, left) => {
        const onEnd = () => {
          leave();
          left();
        };
        return new EventReader({
          clock,
          limits: eventStreams.limits,
          log,
          // A browser reconnects with the header, and with the query of its first request.
          lastEventId: request.headers['last-event-id'] || request.query.since || null,
          mayRead: () => mayStillRead(scope, request, ACCESS),
          took: (bytes) => eventStreams.pace.took(orgId, bytes),
          onEnd,
        });
      });
    } catch (error) {
      leave();
      throw error;
    }
    reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies that buffer a reply before they forward it would delay every event.
      'x-accel-buffering': 'no',
    });
    return reply.send(reader.body);
  });
}

/** The audit log has the content that a person sees, run by run; reads by programs are not recorded. */
function audienceOf({ kind }: Caller): Audience {
  return kind === 'service_key' ? 'programs' : 'people';
}
