// The workers' service: their stream, the versions they run, and the folders of waiting runs.

import type { Metadata } from '@grpc/grpc-js';
import { newId, type RunId } from '@methods/base/ids';
import { Shares } from '@methods/base/shares';
import { SealedValueError } from '@methods/content/device/sealed-value-error';
import { sealedParts, sealedStreamBytes } from '@methods/content/sealed-stream-shape';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import type { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { type PutRunFolderRequest, type WorkerItem, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import type { Admission } from '@methods/rpc/call-admission';
import type { Client } from '@methods/rpc/client';
import { serveFrames } from '@methods/rpc/frame-stream';
import { type RequestSizes, RpcServer, type RpcServerOptions, served } from '@methods/rpc/server';
import type { ServiceImplementation } from '@methods/rpc/service-definition';
import type { RunActors } from '../actor/run-actors.ts';
import type { RunFacts } from '../run/run.ts';
import type { FileStore } from '../store/file-store.ts';
import { FolderNotWhole, type RunFolderStore } from '../store/run-folder-store.ts';
import type { KeyOwner, WorkerKeys } from '../worker-stream/worker-keys.ts';
import { type SchedulerItem, WorkerSession } from '../worker-stream/worker-session.ts';
import type { WorkerSessions } from '../worker-stream/worker-sessions.ts';

const FOLDER_BYTES_MAX = 256 << 20;
const CHUNK_BYTES_MAX = 64 << 10;

export interface WorkerServiceOptions {
  readonly keys: WorkerKeys;
  readonly sessions: WorkerSessions;
  readonly registry: Client<typeof MethodRegistryService>;
  readonly folders: RunFolderStore;
  readonly files: Pick<FileStore, 'namedBy' | 'content'>;
  readonly actors: RunActors;
  readonly logger: Logger;
}

/**
 * Files and folders in flight on this node. A stream whose reader stalls holds 16 chunks, a MiB, so an organization
 * holds at most 32 MiB; a worker that gets no place retries.
 */
const TRANSFERS = { placesMax: 256, perOrganizationMax: 32 };

const CALLS_MAX = 20_000;
const CALLS_PER_ORGANIZATION_MAX = 5_000;
const LOOKUPS_PER_ADDRESS_MAX = 64;
const STREAMS_PER_CONNECTION_MAX = 128;
const GRACE_MS = 1_000;

/** Room for the largest lock; a larger one is refused with its bound. */
const workerRequestSizes: RequestSizes<typeof WorkerService> = { putLock: 2 << 20 };

/** Fields and entries of one message. A heartbeat that names all runs a worker can hold has 90,000. */
export const WORKER_ELEMENTS_MAX = 200_000;

function workerAdmission(keys: WorkerKeys): Admission {
  return {
    ownerOf: (metadata) => keys.ownerOf(String(metadata.get('authorization')[0] ?? '')),
    callsMax: CALLS_MAX,
    callsPerOrganizationMax: CALLS_PER_ORGANIZATION_MAX,
    seldomPath: `/${WorkerService.typeName}/${WorkerService.method.work.name}`,
    lookupsPerAddressMax: LOOKUPS_PER_ADDRESS_MAX,
  };
}

/** Serves the workers' endpoint, separate from the one of gateways and peers. `rpcLogger` logs connection errors. */
export function serveWorkers(
  options: WorkerServiceOptions,
  listen: string,
  tls: RpcServerOptions['tls'],
  rpcLogger: Logger,
): RpcServer {
  return new RpcServer({
    listen,
    tls,
    services: [served(WorkerService, workerService(options), workerRequestSizes)],
    admission: workerAdmission(options.keys),
    elementsMax: WORKER_ELEMENTS_MAX,
    streamsPerConnectionMax: STREAMS_PER_CONNECTION_MAX,
    logger: rpcLogger,
    graceMs: GRACE_MS,
  });
}

export function workerService(options: WorkerServiceOptions): ServiceImplementation<typeof WorkerService> {
  const { keys, sessions, registry, folders, files, logger } = options;
  const transfers = new Shares(TRANSFERS);
  const beginTransfer = ({ orgId }: KeyOwner) => {
    const place = transfers.take(orgId);
    if (!place.ok) throw new ServiceError('unavailable', 'Too many files of the organization are on their way.');
    return place;
  };
  const ownerOf = (metadata: Metadata) => keys.ownerOf(String(metadata.get('authorization')[0] ?? ''));
  return {
    work: serveFrames<WorkerItem, SchedulerItem>(async (connection) => {
      const credential = String(connection.metadata.get('authorization')[0] ?? '');
      const owner = await keys.ownerOf(credential);
      const check = () => keys.ownerOf(credential);
      const askAgain = () => keys.askAgain(credential);
      const session = new WorkerSession(connection, { ...owner, check, askAgain }, sessions);
      sessions.connected(session);
      return {
        onItems: (items) => session.received(items),
        onClose: (error) => {
          if (error !== null) logger.debug({ err: error, worker: session.id }, 'worker stream ended');
          sessions.closed(session);
        },
        // Items are bounded far below the size of a message; if one is too large anyway, the rest of the stream must
        // not suffer.
        onUnsendable: ({ item }) => logger.error({ worker: session.id, item: item?.case }, 'item beyond 4 MiB'),
      };
    }),
    async getVersion(request, context) {
      const { orgId } = await ownerOf(context.metadata);
      const found = await registry.getVersion(
        { orgId, methodId: request.method, version: request.versionId },
        { parent: context },
      );
      const { version } = found;
      if (version === undefined) throw new ServiceError('not_found', 'There is no such version.');
      return {
        method: request.method,
        versionId: version.versionId,
        schemaVersion: version.schemaVersion,
        source: version.source,
        sha256: version.sha256,
        lockSha256: version.lockSha256,
        lock: version.lock,
        calls: version.calls,
      };
    },
    async putLock(request, context) {
      const { orgId } = await ownerOf(context.metadata);
      const { method: methodId, versionId, lock } = request;
      const { lockSha256, stored } = await registry.putLock({ orgId, methodId, versionId, lock }, { parent: context });
      return { lockSha256, stored };
    },
    async putRunFolder(requests, context) {
      const owner = await ownerOf(context.metadata);
      const iterator = requests[Symbol.asyncIterator]();
      const first = await iterator.next();
      if (first.done === true) throw new ServiceError('invalid_request', 'The folder has no first chunk.');
      const { runId, token, bytesTotal } = first.value;
      const { contentId } = await mayTouch(options, owner, runId, token);
      const folderId = newId('fld');
      const rest = (async function* () {
        for (let next: IteratorResult<PutRunFolderRequest> = first; !next.done; next = await iterator.next()) {
          const { chunk } = next.value;
          if (chunk.length > CHUNK_BYTES_MAX) throw new ServiceError('too_large', 'A chunk exceeds 64 KiB.');
          if (chunk.length > 0) yield chunk;
        }
      })();
      // Of a run in device mode nothing is stored that is not sealed.
      const chunks = contentId === null ? rest : sealedParts('folder', rest);
      const bytesMax = contentId === null ? FOLDER_BYTES_MAX : sealedStreamBytes(FOLDER_BYTES_MAX);
      if (!Number.isInteger(bytesTotal) || bytesTotal > bytesMax)
        throw new ServiceError('too_large', 'The run folder exceeds 256 MiB.');
      const place = beginTransfer(owner);
      try {
        await folders.dropReplaced(owner.orgId, runId);
        await folders.put({ folderId, orgId: owner.orgId, runId }, chunks, bytesTotal);
      } catch (error) {
        if (error instanceof SealedValueError) throw new ServiceError('invalid_request', 'The folder is not sealed.');
        if (!(error instanceof FolderNotWhole)) throw error;
        throw new ServiceError('invalid_request', 'The folder did not arrive whole.');
      } finally {
        place.leave();
      }
      return { folderId };
    },
    async *getRunFolder(request, context) {
      const owner = await ownerOf(context.metadata);
      const { runId, token, folderId } = request;
      await mayTouch(options, owner, runId, token);
      const place = beginTransfer(owner);
      try {
        const chunks = await folders.get({ folderId, orgId: owner.orgId, runId });
        if (chunks === null) throw new ServiceError('not_found', 'There is no such run folder.');
        for await (const chunk of chunks) yield { chunk };
      } finally {
        place.leave();
      }
    },
    async *getInputFile(request, context) {
      const owner = await ownerOf(context.metadata);
      const { runId, token, fileId } = request;
      await mayTouch(options, owner, runId, token);
      const place = beginTransfer(owner);
      try {
        const file = await files.namedBy({ orgId: owner.orgId, runId }, fileId);
        if (file === null) throw new ServiceError('not_found', 'The run names no such file.');
        for await (const row of files.content(owner.orgId, file)) {
          for (let at = 0; at < row.length; at += CHUNK_BYTES_MAX)
            yield { chunk: row.subarray(at, at + CHUNK_BYTES_MAX) };
        }
      } finally {
        place.leave();
      }
    },
  };
}

/** Only the worker that holds the run's present attempt reads or writes its folder. */
async function mayTouch(
  options: WorkerServiceOptions,
  owner: KeyOwner,
  runId: RunId,
  token: string,
): Promise<RunFacts> {
  const run = await options.actors.read(runId);
  if (run === null || run.facts.orgId !== owner.orgId) throw new ServiceError('not_found', 'There is no such run.');
  if (run.status !== 'running' || run.token !== token) {
    throw new ServiceError('stale_attempt', 'Another attempt holds this run.');
  }
  return run.facts;
}
