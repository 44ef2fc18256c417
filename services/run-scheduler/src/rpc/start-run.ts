// start: creates a run on a shard of this node, claimed at once if a worker waits here and no older run does.
import { newRunId, type RunId } from '@methods/base/ids';
import { sealedTextShape } from '@methods/content/sealed-shape';
import { ServiceError } from '@methods/errors/service-error';
import { storageFault } from '@methods/postgres/database-fault';
import type { KeptSteps, LookupRun, StartRun } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import type { RunActors } from '../actor/run-actors.ts';
import type { ClaimsAtOnce } from '../claim/claims-at-once.ts';
import { isPerson, type Party } from '../run/party.ts';
import type { Run, RunFacts } from '../run/run.ts';
import type { KeptBeginning } from '../run/run-command.ts';
import type { DatabaseClock } from '../store/database-clock.ts';
import type { RunStore } from '../store/run-store.ts';
import { partyOf } from '../wire/question-message.ts';
import { answererName } from '../wire/run-message.ts';
import type { InputFiles } from './input-files.ts';
import { type KeptStepsParts, keptBeginning } from './kept-steps.ts';
import { tooManyUnfinished, type UnfinishedRuns } from './unfinished-runs.ts';

interface StartedRun {
  readonly run: Run;
  readonly replayed: boolean;
}

export class StartRuns {
  private shardOfTurn: number | null = null;

  constructor(
    private readonly options: {
      readonly maxAttempts: number;
      readonly actors: RunActors;
      readonly databaseClock: DatabaseClock;
      readonly claims: Pick<ClaimsAtOnce, 'prepare' | 'ended'>;
      readonly nextStartShard: () => number | null;
      readonly owns: (shard: number) => boolean;
      readonly unfinished: Pick<UnfinishedRuns, 'hasRoom' | 'started'>;
      readonly kept: KeptStepsParts;
      readonly files: Pick<InputFiles, 'keepFor' | 'letGo'>;
      readonly store: Pick<RunStore, 'hasRun'>;
    },
  ) {}

  /**
   * Calls `onId` with the new run's id before anything can happen to the run. Drops a start that is no longer `wanted`
   * when it is to be committed.
   */
  async start(request: StartRun, onId: (runId: RunId) => void, wanted?: () => boolean): Promise<StartedRun> {
    const shard = this.shard();
    if (shard === null) throw new ServiceError('unavailable', 'This node owns no shards yet.');
    const facts = this.factsOf(request, shard);
    onId(facts.runId);
    if (!this.options.unfinished.hasRoom(facts.orgId)) await this.mustBeKnown(facts);
    if (facts.rerunOf !== '') await this.mustExist(facts.rerunOf, facts);
    const kept = request.kept === undefined ? undefined : await this.keptOf(request.kept, facts);
    if (request.files !== undefined) await this.keepFiles(request.files, facts);
    const claim = this.options.claims.prepare(facts);
    const onlyComputes = request.onlyComputes && kept === undefined;
    const outcome = await this.options.actors.startRun(facts, claim?.command ?? null, { kept, wanted, onlyComputes });
    if (outcome.kind !== 'started' && kept?.folderId) {
      await this.options.kept.folders.remove({ folderId: kept.folderId, orgId: facts.orgId, runId: facts.runId });
    }
    if (outcome.kind === 'replayed' && request.files !== undefined) await this.options.files.letGo(facts);
    if (claim !== null) this.options.claims.ended(claim, outcome.kind === 'started');
    if (outcome.kind === 'started') this.options.unfinished.started(facts.orgId);
    if (outcome.kind !== 'failed') return { run: outcome.run, replayed: outcome.kind === 'replayed' };
    if (outcome.code === 'idempotency_conflict') throw conflict();
    if (outcome.code === 'content_id_taken') {
      throw new ServiceError('idempotency_conflict', 'This content_id was used for another run.');
    }
    if (outcome.code === 'invalid_request') {
      throw new ServiceError('invalid_request', 'The request holds a value that cannot be stored.');
    }
    throw new ServiceError('unavailable', 'The run could not be started just now.');
  }

  /** Returns one shard for all starts of a turn: their commit then locks one epoch instead of many. */
  private shard(): number | null {
    if (this.shardOfTurn !== null && this.options.owns(this.shardOfTurn)) return this.shardOfTurn;
    this.shardOfTurn = this.options.nextStartShard();
    setImmediate(() => {
      this.shardOfTurn = null;
    });
    return this.shardOfTurn;
  }

  /** An organization with too many unfinished runs still gets the runs that it started before. */
  private async mustBeKnown(facts: RunFacts): Promise<void> {
    if ((await this.options.actors.byKey(facts)) === null) throw tooManyUnfinished();
  }

  /** A repeat gets its run even if the one that it repeats is no longer kept. */
  private async mustExist(rerunOf: RunId, facts: RunFacts): Promise<void> {
    const { store, actors } = this.options;
    const isThere = await store.hasRun(facts.orgId, rerunOf).catch((error: unknown) => {
      throw storageFault(error);
    });
    if (isThere || (await actors.byKey(facts)) !== null) return;
    const message = 'rerun_of names no run of the organization.';
    const findings = [{ path: '/rerun_of', code: 'rerun_of', message }];
    throw new ServiceError('invalid_request', message, { findings });
  }

  /** A repeat gets its run even if the files are gone. Files kept for a start that fails are swept. */
  private async keepFiles(files: NonNullable<StartRun['files']>, facts: RunFacts): Promise<void> {
    if (await this.options.files.keepFor(facts, files)) return;
    if ((await this.options.actors.byKey(facts)) !== null) return;
    const message = 'A file that the inputs name no longer exists.';
    const findings = [{ path: '', code: 'unknown_file', message }];
    throw new ServiceError('invalid_inputs', message, { findings });
  }

  /** Returns undefined for a repeat: it gets its run in any case, and no files need to be copied. */
  private async keptOf(kept: KeptSteps, facts: RunFacts): Promise<KeptBeginning | undefined> {
    const { kept: parts, actors } = this.options;
    if ((await actors.byKey(facts)) !== null) return undefined;
    return keptBeginning(parts, facts, kept);
  }

  private factsOf(request: StartRun, shard: number): RunFacts {
    const nowMs = this.options.databaseClock.nowMs();
    return {
      runId: newRunId(shard, nowMs),
      orgId: request.orgId,
      shard,
      method: request.method,
      versionId: request.versionId,
      inputsJson: request.inputsJson,
      idempotencyHash: request.idempotencyHash,
      requestDigest: request.requestDigest,
      webhookUrl: request.webhookUrl === '' ? null : request.webhookUrl,
      keyId: request.keyId,
      starter: starterOf(request.starter),
      answerBy: answererName(request.answerBy),
      metadata: request.metadata,
      createdAtMs: nowMs,
      maxAttempts: this.options.maxAttempts,
      needs: [...request.needs].sort().join(','),
      cleansUp: request.cleansUp,
      contentId: request.contentId === '' ? null : request.contentId,
      sealedBy: request.contentId === '' ? null : sealedBy(request),
      rerunOf: request.rerunOf,
    };
  }
}

const INPUTS_BYTES_MAX = 256 * 1024;

/** @throws ServiceError for inputs that no worker could open */
function sealedBy({ inputsJson, keyId }: StartRun): string {
  const shape = sealedTextShape(inputsJson, 'inputs', INPUTS_BYTES_MAX);
  if (shape === null) throw new ServiceError('invalid_inputs', 'The inputs are not an envelope.');
  if (keyId === '') throw new ServiceError('device_key_required');
  return shape.fingerprint;
}

/** The id already identifies a key. */
function starterOf(starter: StartRun['starter']): Party | null {
  const party = partyOf(starter);
  return party === null || !isPerson(party) ? null : party;
}

function conflict(): ServiceError {
  return new ServiceError('idempotency_conflict', 'This idempotency_key was used with other values.');
}

/** lookup: finds the run that has a key, before a start is refused for its values. */
export async function lookupRun(actors: RunActors, request: LookupRun): Promise<Run> {
  const replay = await actors.byKey(request);
  if (replay === null) throw new ServiceError('not_found', 'No run has this key.');
  if (replay.kind === 'failed') throw conflict();
  return replay.run;
}
