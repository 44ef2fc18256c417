// PUT /api/cli/runs/:id: the record of a run on a person's own computer.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { ServiceError } from '@methods/errors/service-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OrganizationSettings } from '../../clients/organization-settings.ts';
import { WEIGHT_PER_MIB_MAX } from '../../json/json-weight.ts';
import type { RecordThreads } from '../../local-runs/record-threads.ts';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE, tooLarge } from '../../plugins/error-reply.ts';
import { BODY_BYTES_MAX, readBodiesApart } from '../../plugins/json-body.ts';
import { doerOf } from '../../plugins/request-actor.ts';
import type { MethodRouteParts } from '../methods/method-parts.ts';
import { NoQuery, replies } from '../reply-schemas.ts';
import { runIdOf } from '../runs/run-reply.ts';
import { KeptRunRecord, RunRecordBody, RunRecordParams } from './cli-schemas.ts';

const RECORD_BYTES_MAX = 4 * 1024 * 1024;
// A record is sent to the registry in one message of the same bound, which also carries other fields.
const INSPECTION_BYTES_MAX = RECORD_BYTES_MAX - 1024;

const WEIGHT_MAX = (WEIGHT_PER_MIB_MAX * RECORD_BYTES_MAX) / BODY_BYTES_MAX;

export interface CliRunParts extends Pick<MethodRouteParts, 'registryCalls'> {
  readonly settings: OrganizationSettings;
  readonly recordThreads: Pick<RecordThreads, 'read'>;
}

export function addCliRuns(cli: FastifyInstance, { registryCalls, recordThreads, settings }: CliRunParts): void {
  const schema = {
    operationId: 'cliPutRun',
    summary: 'Upload the record of a local run',
    tags: ['cli'],
    params: RunRecordParams,
    querystring: NoQuery,
    body: RunRecordBody,
    response: replies({ 200: KeptRunRecord }),
  };
  const options = { schema, config: { access: 'member' }, bodyLimit: RECORD_BYTES_MAX } as const;
  const inspections = new WeakMap<FastifyRequest, string>();
  cli.register(async (scope) => {
    readBodiesApart(scope, async (request, body) => {
      const reading = await recordThreads.read(callerOf(request).orgId, body, WEIGHT_MAX);
      if (!reading.ok) return reading;
      if (reading.inspectionJson !== null) inspections.set(request, reading.inspectionJson);
      return { ok: true, value: reading.outline };
    });
    scope.withTypeProvider<TypeBoxTypeProvider>().put('/api/cli/runs/:id', options, async (request, reply) => {
      const { workflow_id: methodId, version_id: versionId, sequence } = request.body;
      const runId = runIdOf(request.params);
      const inspectionJson = inspections.get(request) ?? '';
      if (Buffer.byteLength(inspectionJson) > INSPECTION_BYTES_MAX) {
        throw tooLarge('/inspection', 'inspection_bytes', `An inspection has at most ${INSPECTION_BYTES_MAX} bytes.`);
      }
      const { orgId } = callerOf(request);
      if ((await settings.of(orgId)).contentOnDevices) throw new ServiceError('device_mode_required');
      const { record } = await registryCalls.runRecords.putRunRecord({
        ...{ orgId, runId, methodId, versionId, sequence, inspectionJson },
        doer: doerOf(request),
      });
      if (record === undefined) throw new ServiceError('internal');
      reply.header('content-type', JSON_TYPE);
      return JSON.stringify({ run_id: record.runId, sequence: record.sequence });
    });
  });
}
