// The RPCs of RunRecordService: records of runs that people made on their own computers.
import type {
  GetRunRecordRequest,
  ListRunRecordsRequest,
  PutRunRecordRequest,
  RunRecordService,
} from '@methods/proto/registry/v1/run_record_service_pb';
import type { CallContext } from '@methods/rpc/call-handler';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import { inject, injectable } from 'tsyringe';
import type { LocalRun } from '../local-run/local-run.ts';
import { SourceThreads } from '../method/source-threads.ts';
import { pageRequest } from '../page/page.ts';
import { isLocalRunKey, LocalRunStore } from '../store/local-run-store.ts';
import { doerOf, methodIdOf, orgIdOf, runIdOf, versionIdOf } from './request-fields.ts';

@injectable()
export class RunRecordRpcs {
  constructor(
    @inject(LocalRunStore) private readonly runs: LocalRunStore,
    @inject(SourceThreads) private readonly threads: SourceThreads,
  ) {}

  handlers(): ServiceImplementation<typeof RunRecordService> {
    return {
      putRunRecord: (request, context) => this.put(request, context),
      getRunRecord: (request) => this.get(request),
      listRunRecords: (request) => this.list(request),
    };
  }

  private async put(request: PutRunRecordRequest, { signal }: Pick<CallContext, 'signal'>) {
    const orgId = orgIdOf(request.orgId);
    const run = await this.runs.put({
      orgId,
      runId: runIdOf(request.runId),
      methodId: methodIdOf(request.methodId),
      versionId: versionIdOf(request.versionId),
      sequence: request.sequence,
      inspection: await this.threads.inspect(request.inspectionJson, { orgId, signal }),
      doer: doerOf(request.doer),
    });
    return { record: recordMessage(run) };
  }

  private async get(request: GetRunRecordRequest) {
    const { run, inspectionJson } = await this.runs.find(orgIdOf(request.orgId), runIdOf(request.runId));
    return { record: { ...recordMessage(run), inspectionJson } };
  }

  private async list(request: ListRunRecordsRequest) {
    const { items, nextCursor } = await this.runs.list({
      orgId: orgIdOf(request.orgId),
      methodId: request.methodId === '' ? null : methodIdOf(request.methodId),
      status: request.status,
      page: pageRequest(request, isLocalRunKey),
    });
    return { records: items.map(recordMessage), nextCursor };
  }
}

function recordMessage(run: LocalRun) {
  return {
    runId: run.runId,
    orgId: run.orgId,
    methodId: run.methodId,
    versionId: run.versionId,
    sequence: run.sequence,
    status: run.status ?? '',
    createdAtMs: run.createdAt.getTime(),
    updatedAtMs: run.updatedAt.getTime(),
    createdBy: { ...run.createdBy },
  };
}
