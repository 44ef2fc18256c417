// The gateways' calls for parts of a run: sizes of steps, values, its place in the queue and its questions. Read from the
// database: they need no actor and no shard.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { isId, type OrgId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';
import { AnswerRefusal } from '@methods/proto/scheduler/v1/question_service_pb';
import {
  type GetQueuePlaceRequest,
  type ListRunQuestionsRequest,
  type ListRunQuestionsResponseSchema,
  type MeasureStepsRequest,
  type ReadValueRequest,
  type RunPartsService,
  RunValue,
} from '@methods/proto/scheduler/v1/run_parts_service_pb';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { queueParts } from '../store/queue-key.ts';
import { AHEAD_MAX, type QueueList } from '../store/queue-list.ts';
import type { RunParts, ValueAddress } from '../store/run-parts.ts';
import { questionItem } from './question-service.ts';
import type { RestedTurns } from './rested-turns.ts';

const PATHS_MAX = 1_000;
const PART_BYTES_MAX = 1024 * 1024;
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

const VALUES: Partial<Record<RunValue, ValueAddress['of']>> = {
  [RunValue.INPUTS]: 'inputs',
  [RunValue.RESULT]: 'result',
  [RunValue.OUTPUT]: 'output',
  [RunValue.LOG]: 'log',
};

export class RunPartsRpc {
  constructor(
    private readonly options: {
      readonly parts: Pick<RunParts, 'sizes' | 'value' | 'questions'>;
      readonly queues: Pick<QueueList, 'place'>;
      readonly turns: Pick<RestedTurns, 'run'>;
    },
  ) {}

  readonly handlers: ServiceImplementation<typeof RunPartsService> = {
    measureSteps: (request) => this.read(request, () => this.sizes(request)),
    readValue: (request) => this.read(request, () => this.value(request)),
    getQueuePlace: (request) => this.read(request, () => this.place(request)),
    listRunQuestions: (request) => this.read(request, () => this.questions(request)),
  };

  private async sizes({ orgId, runId, paths }: MeasureStepsRequest) {
    const steps = await this.options.parts.sizes(orgId, runId, paths.slice(0, PATHS_MAX));
    return { steps: [...steps] };
  }

  private async value({ orgId, runId, of, step, offset, bytes }: ReadValueRequest) {
    const name = VALUES[of];
    if (name === undefined) throw new ServiceError('invalid_request', 'The request names no value.');
    const asked = { orgId, runId, of: name, step, offset, bytes: Math.min(bytes, PART_BYTES_MAX) };
    const found = await this.options.parts.value(asked);
    if (found === null) throw new ServiceError('not_found', 'There is no such run, or no record of such a step.');
    return { bytesTotal: found.total, part: found.part, withheld: found.withheld, sealed: found.sealed };
  }

  private async place({ orgId, runId }: GetQueuePlaceRequest) {
    const place = await this.options.queues.place(orgId, runId);
    if (place === null) return {};
    const { method, queuedAtMs, ahead } = place;
    const { needs } = queueParts(method);
    return { queuedAtMs, ahead: Math.min(ahead, AHEAD_MAX), more: ahead > AHEAD_MAX, needs };
  }

  private async questions(
    request: ListRunQuestionsRequest,
  ): Promise<MessageInitShape<typeof ListRunQuestionsResponseSchema>> {
    const { orgId, runId, cursor } = request;
    if (cursor !== '' && !isId('q', cursor)) {
      throw new ServiceError('invalid_request', 'The cursor is not one of this list.', {
        findings: [{ path: '/cursor', code: 'cursor', message: 'Use next_cursor unchanged.' }],
      });
    }
    const limit = Math.min(request.limit || LIMIT_DEFAULT, LIMIT_MAX);
    const rows = await this.options.parts.questions(orgId, runId, cursor, limit + 1);
    const shown = rows.slice(0, limit);
    return {
      questions: shown.map((row) => questionItem(row, AnswerRefusal.UNSPECIFIED, row.state, row.closed_at_ms)),
      nextCursor: rows.length > limit ? (shown.at(-1)?.question_id ?? '') : '',
    };
  }

  private async read<T>({ orgId, runId }: { orgId: OrgId; runId: RunId }, work: () => Promise<T>): Promise<T> {
    if (!isId('org', orgId) || !isId('run', runId)) throw new ServiceError('not_found', 'There is no such run.');
    try {
      return await this.options.turns.run(orgId, work);
    } catch (error) {
      throw storageFault(error);
    }
  }
}
