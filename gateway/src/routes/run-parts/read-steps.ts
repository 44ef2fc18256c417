// GET /api/runs/:id/steps: a page of the run's steps with the sizes of their values.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Run } from '@methods/api/run';
import { ServiceError } from '@methods/errors/service-error';
import type { StepSize } from '@methods/proto/scheduler/v1/run_parts_service_pb';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { readLimit } from '../page-query.ts';
import { replies } from '../reply-schemas.ts';
import { runShown } from '../runs/run-acts.ts';
import { declaredSteps, runIdOf, STEP_BYTES } from '../runs/run-reply.ts';
import { RunParams } from '../runs/run-schemas.ts';
import { described, type RunPartRouteParts } from './run-parts.ts';
import { type ListedStep, type StepPage, stepPage } from './step-list.ts';

const LIMIT_MAX = 1_000;
const LIMIT_DEFAULT = 200;
const PATH_CHARACTERS_MAX = 1_000;
const STATUSES = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'skipped', 'cancelled'];
const Path = (description: string) => Type.Optional(Type.String({ maxLength: PATH_CHARACTERS_MAX, description }));

const StepsQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `Default: ${LIMIT_DEFAULT}.` })),
    cursor: Path('next_cursor of the page before.'),
    under: Path('Only steps below this one, such as the rounds of a folded loop.'),
    name: Type.Optional(Type.String({ maxLength: 200, description: 'A part of the path, in any case.' })),
    status: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: STATUSES })),
    fold: Type.Optional(
      Type.Unsafe<'true'>({
        type: 'string',
        enum: ['true'],
        description: 'A loop of more than 100 rounds is one entry with `rounds`: list them by `under`.',
      }),
    ),
  },
  { additionalProperties: false },
);

const Counts = Type.Record(Type.String(), Type.Integer(), { description: 'By status; a missing one is 0.' });
const Step = Type.Object({
  ...Run.properties.steps.items.properties,
  output_bytes: Type.Integer({ description: '0: it has no output, or none yet.' }),
  output_withheld: Type.Optional(Type.Boolean({ description: 'The output holds a secret and was not stored.' })),
  log_bytes: Type.Integer({ description: 'Of the stored end of its log.' }),
  rounds: Type.Optional(Counts),
});
const Steps = Type.Object({
  items: Type.Array(Step),
  next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  counts: { ...Counts, description: 'Of all steps that match `under` and `name`, by status.' },
});

export function addReadSteps(scope: FastifyInstance, parts: RunPartRouteParts): void {
  const { scheduler, reads, registry, longWork, clock } = parts;
  const schema = {
    ...described('listRunSteps', 'List the steps of a run, in the order of its version'),
    params: RunParams,
    querystring: StepsQuery,
    response: replies({ 200: Steps }),
  };
  scope
    .withTypeProvider<TypeBoxTypeProvider>()
    .get(
      '/api/runs/:id/steps',
      { schema, config: { access: 'viewer' }, preValidation: readLimit },
      async (request, reply) => {
        const { orgId } = callerOf(request);
        const runId = runIdOf(request.params);
        const { limit = LIMIT_DEFAULT, cursor = '', under = '', name = '', status = '', fold } = request.query;
        const run = await scheduler.getRun({ orgId, runId, requestId: request.id });
        const selection = { limit, after: cursor, under, name, status, folds: fold === 'true' };
        const declared = await declaredSteps({ registry }, orgId, run);
        const work = stepPage(run, declared, clock.wallMs(), selection);
        const page = await longWork.run(orgId, run.steps.length * STEP_BYTES, work, 0, false);
        if (page === null) throw foreignCursor();
        const paths = page.steps.map(({ path }) => path);
        const { steps: sizes } = await reads.parts.measure({ orgId, runId, paths });
        const told = runShown(request, parts, runId);
        if (told) await told;
        reply.header('content-type', JSON_TYPE);
        return pageJson(page, sizes);
      },
    );
}

function pageJson({ steps, hasMore, counts }: StepPage, sizes: readonly StepSize[]): string {
  const known = new Map(sizes.map((size) => [size.path, size]));
  const items = steps.map((step) => stepJson(step, known.get(step.path)));
  const next = hasMore ? (steps.at(-1)?.path ?? null) : null;
  return `{"items":[${items.join(',')}],"next_cursor":${JSON.stringify(next)},"counts":${JSON.stringify(counts)}}`;
}

function stepJson({ json, rounds }: ListedStep, size: StepSize | undefined): string {
  const more = {
    output_bytes: size?.outBytes ?? 0,
    ...(size?.outWithheld && { output_withheld: true }),
    log_bytes: size?.logBytes ?? 0,
    ...(rounds && { rounds }),
  };
  return `${json.slice(0, -1)},${JSON.stringify(more).slice(1)}`;
}

function foreignCursor(): ServiceError {
  return new ServiceError('invalid_request', 'The cursor is not one of this list.', {
    findings: [{ path: '/cursor', code: 'cursor', message: 'Use next_cursor unchanged.' }],
  });
}
