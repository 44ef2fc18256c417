// POST …/runs/batch: many starts in one request, each with its own key and outcome. Each is treated as a separate
// request: it counts against the rate, and takes no more of the event loop at a time. The body is never parsed as a
// whole.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { callerId } from '@methods/auth/caller';
import type { OrgId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { asServiceError, overShare, ServiceError } from '@methods/errors/service-error';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Static } from 'typebox';
import { readJson } from '../../json/json-gate.ts';
import { type ListReading, readList } from '../../json/json-list.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE, serviceErrorOf, tooLarge } from '../../plugins/error-reply.ts';
import { BODY_BYTES_MAX, readBodiesApart, refusal } from '../../plugins/json-body.ts';
import { LARGE_BODY_BYTES, readingMs } from '../../plugins/large-bodies.ts';
import { rateLimited, tellLimit } from '../../plugins/rate-limit.ts';
import { type SchemaFault, schemaFinding } from '../../plugins/schema-fault.ts';
import { manySteps } from '../../turns/many-steps.ts';
import { atOnce, type Steps } from '../../turns/steps.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import {
  BATCH_BYTES_MAX,
  BATCH_RUNS_MAX,
  BatchOutcomes,
  BatchOutline,
  StartBatchBody,
  StartedBatch,
} from './batch-schemas.ts';
import { KeyTurns } from './key-turns.ts';
import { describedRun, type RunSurface, runStarted } from './run-acts.ts';
import type { RunRouteParts } from './run-reply.ts';
import { StartRunBody } from './run-schemas.ts';
import { type AcceptedStart, type StartContext, startContext, startSteps } from './start-steps.ts';

const BATCHES = { placesMax: 256, perOrganizationMax: 8, perKeyMax: 6 };
const BATCH_RETRY_MS = 2_000;
/** Starts that were sent and wait for their replies, and the bytes of their inputs. */
const SENT_MAX = 512;
const SENT_BYTES_MAX = 2 << 20;
/** Starts that wait before they are sent: for a thread that checks them, or for files that they name. */
const HELD_MAX = 4;
/** A start that has not begun by then is not begun, so that the caller still gets the reply. */
const BATCH_MS_MAX = 20_000;

export function addStartBatch(scope: FastifyInstance, parts: RunRouteParts, surface: RunSurface): void {
  const schema = {
    ...describedRun(surface, 'startRuns', 'Start many runs'),
    description:
      'Starts up to 1,000 runs. The outcomes are in the order of the starts; each is the reply that the same start would get by itself. Each start counts as a request against the rate of its key and organization: those beyond it are refused with 429 and `retry_after`, the first ones are not. A start that gets 429 or 503 may be repeated with its idempotency_key.',
    querystring: NoQuery,
    body: BatchOutline,
    response: replies({ 200: StartedBatch }),
  };
  const bodies = new WeakMap<FastifyRequest, readonly Buffer[]>();
  const options = {
    schema,
    config: { access: 'member', describedBody: StartBatchBody },
    bodyLimit: BATCH_BYTES_MAX,
    onRequest: batchPlaces(),
  } as const;
  scope.register(async (apart) => {
    readBodiesApart(apart, async (request, body) => {
      const reading = await readRuns(parts, callerOf(request).orgId, body);
      if (!reading.ok) return reading;
      bodies.set(request, reading.items);
      return { ok: true, value: reading.outline };
    });
    apart.withTypeProvider<TypeBoxTypeProvider>().post(`${surface.url}/batch`, options, async (request, reply) => {
      const runs = bodies.get(request) ?? [];
      const batch = new StartBatch(parts, request, reply, runs);
      await batch.start(takeRate(parts, request, reply, runs.length));
      reply.header('content-type', JSON_TYPE);
      return batch.outcomes.json();
    });
  });
}

/** Bounds the batches in progress of a key and an organization: more are refused before they are read. */
function batchPlaces(): onRequestHookHandler {
  const places = new Shares(BATCHES);
  return (request, reply, done) => {
    const caller = callerOf(request);
    const place = places.take(caller.orgId, callerId(caller));
    if (!place.ok) return done(overShare('batches of starts', place, BATCH_RETRY_MS));
    reply.raw.once('close', place.leave);
    done();
  };
}

function readRuns({ longWork }: RunRouteParts, orgId: OrgId, body: Buffer): ListReading | Promise<ListReading> {
  const reading = readList(body, 'runs', BATCH_RUNS_MAX);
  return body.length > LARGE_BODY_BYTES
    ? longWork.run(orgId, body.length, reading, readingMs(body.length))
    : atOnce(reading);
}

interface Rate {
  /** The number of starts within the rate; the request itself pays for the first. */
  readonly granted: number;
  readonly beyond: ServiceError | null;
}

function takeRate({ rateLimit }: RunRouteParts, request: FastifyRequest, reply: FastifyReply, count: number): Rate {
  const more = rateLimit.takeMore(callerOf(request), count - 1);
  if (more === null) return { granted: count, beyond: null };
  tellLimit(reply, more);
  return { granted: 1 + more.taken, beyond: rateLimited(more) };
}

class StartBatch {
  readonly outcomes: BatchOutcomes;
  private sent = 0;
  private sentBytes = 0;
  private readonly turns = new KeyTurns();
  private readonly context: StartContext;
  private readonly untilMs: number;
  private readonly validate: ReturnType<FastifyRequest['compileValidationSchema']>;

  constructor(
    private readonly parts: RunRouteParts,
    private readonly request: FastifyRequest,
    reply: FastifyReply,
    private readonly runs: readonly Buffer[],
  ) {
    this.outcomes = new BatchOutcomes(runs.length, request.id);
    this.context = { ...startContext(request, reply), isInBatch: true };
    this.untilMs = parts.clock.monotonicMs() + BATCH_MS_MAX;
    this.validate = request.compileValidationSchema(StartRunBody);
  }

  async start({ granted, beyond }: Rate): Promise<void> {
    if (beyond !== null) this.refused(granted, this.runs.length, beyond);
    await manySteps(this.parts.longWork, this.context.orgId, {
      count: granted,
      begin: (n) => this.one(n),
      mayBegin: (open) => open - this.sent < HELD_MAX && this.sent < SENT_MAX && this.sentBytes < SENT_BYTES_MAX,
      refused: (from, error) => this.refused(from, granted, asServiceError(error)),
    });
  }

  private refused(from: number, to: number, error: ServiceError): void {
    for (let n = from; n < to; n++) this.outcomes.refused(n, error);
  }

  private *one(n: number): Steps<void> {
    let sentBytes = 0;
    try {
      const started = yield* this.startOf(this.runs[n] as Buffer, (bytes) => {
        sentBytes = bytes;
        this.sent++;
        this.sentBytes += bytes;
      });
      this.accepted(n, started);
    } catch (error) {
      this.outcomes.refused(n, this.known(error as FastifyError));
    }
    if (sentBytes === 0) return;
    this.sent--;
    this.sentBytes -= sentBytes;
  }

  private *startOf(bytes: Buffer, leaves: (bytes: number) => void): Steps<AcceptedStart> {
    this.checkTime();
    const body = this.bodyOf(bytes);
    const turn = body.idempotency_key === undefined ? null : yield* this.turns.take(body.idempotency_key);
    try {
      // Others with its key may each have waited for a node that does not reply.
      if (turn !== null) this.checkTime();
      if (bytes.length > LARGE_BODY_BYTES) yield;
      const context = { ...this.context, leaves: (inputsBytes: number) => leaves(1 + inputsBytes) };
      const started = yield* startSteps(this.parts, body, bytes.length, context);
      if (turn !== null) turn.hasRun = true;
      return started;
    } finally {
      turn?.leave();
    }
  }

  /** @throws ServiceError if no reader would get the outcome of a start that begins now */
  private checkTime(): void {
    if (!this.context.caller.gone && !this.parts.stopping() && this.parts.clock.monotonicMs() <= this.untilMs) return;
    throw new ServiceError('unavailable', 'The batch took too long. This start was not begun.');
  }

  /** @throws ServiceError for an invalid start */
  private bodyOf(bytes: Buffer): Static<typeof StartRunBody> {
    if (bytes.length > BODY_BYTES_MAX) {
      throw tooLarge('', 'body_bytes', `A start has at most ${BODY_BYTES_MAX} bytes.`);
    }
    const reading = readJson(bytes);
    if (!reading.ok) throw refusal(reading.fault);
    if (this.validate(reading.value)) return reading.value as Static<typeof StartRunBody>;
    const [fault] = this.validate.errors ?? [];
    const finding = fault && schemaFinding(fault as SchemaFault, 'body');
    throw new ServiceError('invalid_request', finding?.message, { findings: finding ? [finding] : [] });
  }

  private accepted(n: number, started: AcceptedStart): void {
    this.outcomes.accepted(n, started);
    if (started.isRepeat) return;
    const { runId, method, versionId } = started.run;
    runStarted(this.request, this.parts, { targetId: runId, facts: { method, version_id: versionId } });
  }

  private known(error: FastifyError): ServiceError {
    const known = serviceErrorOf(error);
    if (known.code === 'internal') {
      this.parts.logger.error({ request_id: this.request.id, error: known.cause ?? error }, 'a start failed');
    }
    return known;
  }
}
