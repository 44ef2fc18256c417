// Sends the record of a local run to the server while it runs. An unavailable server does not delay the run: the record
// is sent later, and at the end the run waits for that; an unsent record is kept in the run's folder.
import { Backoff } from '@methods/base/backoff';
import type { LocalVersionId, VersionId } from '@methods/base/ids';
import { inspectionOf } from '@methods/executor/inspection';
import type { StepEnd } from '@methods/executor/run-outcome';
import type { StepKind } from '@methods/method/compiled-method';
import type { JsonObject } from '@methods/method/json';
import { CommandError } from '../errors/command-error.ts';
import { LOCAL_WORKER } from '../local-run/local-inspection.ts';
import type { WalkView } from '../local-run/local-walk.ts';
import type { LocalRunRecord } from '../local-run/run-record.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { forgetUnsent, keepUnsent, type RunRecord, sendCommand, sendRecord } from './unsent-record.ts';

/** Between two records of a running run. */
const PAUSE_MS = 1_000;
const LAST_TRIES_MS = 15_000;
/** Sequence numbers for each attempt: far more than a run uses. */
const RECORDS_MAX = 1_000_000;

interface RunUploadParts {
  readonly runId: string;
  /** Absolute; the run's own. */
  readonly dir: string;
  /** Bare. */
  readonly methodId: string;
  readonly versionId: string;
  /** Each attempt's records have higher sequences than those of the attempts before. */
  readonly attempt: number;
  /** Its address. */
  readonly server: string;
  readonly open: () => Promise<ServerApi>;
  /** Prints a line beside a live view. */
  readonly say: (line: string) => void;
  readonly lastTriesMs?: number;
}

export class RunUpload {
  private sequence: number;
  /** Builds the newest record; null: it is sent. */
  private due: (() => JsonObject) | null = null;
  private sending: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;
  private api: ServerApi | null = null;
  private saidAway = false;
  private over = false;
  /** Why nothing was sent after this while the run continued. */
  private stoppedBy: CommandError | null = null;

  constructor(private readonly parts: RunUploadParts) {
    this.sequence = parts.attempt * RECORDS_MAX;
  }

  /** `record` is called when the record is sent, so it includes changes until then. */
  changed(record: () => JsonObject): void {
    if (this.over) return;
    this.due = record;
    if (this.sending !== null || this.timer !== null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.sending = this.sendDue().finally(() => {
        this.sending = null;
        if (this.due !== null) this.changed(this.due);
      });
    }, PAUSE_MS).unref();
  }

  /** Sends the last record in any case. Returns true when the server has it. */
  async finish(record: JsonObject): Promise<boolean> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.due = null;
    this.over = true;
    await this.sending;
    if (this.stoppedBy !== null && isRefusal(this.stoppedBy)) return false;
    const last = this.next(record);
    // Stored before the first try, so that ending the process while it waits loses nothing.
    const isKept = await this.keep(last);
    const fault = this.stoppedBy ?? (await this.lastTries(last));
    const { dir, say } = this.parts;
    // The run itself reports a full disk or a lost folder.
    if (fault === null || isRefusal(fault)) await forgetUnsent(dir).catch(() => {});
    if (fault === null) {
      if (this.saidAway) say('The record of the run has been sent.');
      return true;
    }
    const how = isKept && !isRefusal(fault) ? ` It is kept; send it with  ${sendCommand(this.parts)}` : '';
    say(`The record of the run was not sent: ${fault.message}.${how}`);
    return false;
  }

  private async lastTries(last: RunRecord): Promise<CommandError | null> {
    const backoff = new Backoff({ firstMs: 300, maxMs: 3_000 });
    const endMs = performance.now() + (this.parts.lastTriesMs ?? LAST_TRIES_MS);
    for (;;) {
      const fault = await this.send(last);
      if (fault === null) return null;
      const waitMs = backoff.nextMs();
      if (!isPassing(fault) || performance.now() + waitMs > endMs) return fault;
      this.sayAway(fault);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  private async sendDue(): Promise<void> {
    const { due } = this;
    if (due === null) return;
    this.due = null;
    const fault = await this.send(this.next(due()));
    if (fault === null) return;
    if (isPassing(fault)) this.sayAway(fault);
    else if (!this.over) {
      this.over = true;
      this.stoppedBy = fault;
      this.parts.say(`The record of the run is not sent: ${fault.message}.`);
    }
  }

  private next(inspection: JsonObject): RunRecord {
    const { runId, methodId, versionId } = this.parts;
    return { runId, methodId, versionId, sequence: ++this.sequence, inspection };
  }

  private async keep(record: RunRecord): Promise<boolean> {
    const { dir, server } = this.parts;
    return keepUnsent(dir, { ...record, server }).then(
      () => true,
      () => false,
    );
  }

  /** Null: it has arrived. */
  private async send(record: RunRecord): Promise<CommandError | null> {
    try {
      this.api ??= await this.parts.open();
      await sendRecord(this.api, record);
      return null;
    } catch (error) {
      // Interrupted, or a fault of ours: the run matters more than its record.
      return error instanceof CommandError ? error : new CommandError('interrupted', 'it was interrupted');
    }
  }

  private sayAway(fault: CommandError): void {
    if (this.saidAway) return;
    this.saidAway = true;
    this.parts.say(`${capital(fault.message)}; the run continues, and its record follows.`);
  }
}

function isPassing(fault: CommandError): boolean {
  if (fault instanceof ServerRefusal) return fault.status >= 500 || fault.status === 429;
  return fault.code === 'unreachable' || fault.code === 'unavailable';
}

/** The server would refuse it again; an expired sign-in can be renewed. */
function isRefusal(fault: CommandError): boolean {
  return fault instanceof ServerRefusal && fault.status !== 401 && !isPassing(fault);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Follows a run's walk and sends its record as it grows, besides showing it. */
export interface UploadedRun {
  readonly record: LocalRunRecord;
  /** Of the server. */
  readonly versionId: VersionId | LocalVersionId;
  readonly attempt: number;
  readonly lockSha256: string | null;
  /** Of earlier attempts. */
  readonly records: readonly StepEnd[];
}

/** Returns `view`, which also passes every start and end of a step to `upload`. */
export function uploadingView(view: WalkView, upload: RunUpload, run: UploadedRun): WalkView {
  const records = [...run.records];
  const open = new Map<string, { readonly kind: StepKind; readonly startedAtMs: number }>();
  const changed = () => upload.changed(() => runningInspection(run, records, open));
  changed();
  return {
    stepStarted(path, kind, tryNumber) {
      open.set(path, { kind, startedAtMs: Date.now() });
      changed();
      view.stepStarted?.(path, kind, tryNumber);
    },
    stepEnded(record) {
      open.delete(record.path);
      records.push(record);
      changed();
      view.stepEnded?.(record);
    },
    stepRetrying: (...told) => view.stepRetrying?.(...told),
    stepKept: (path) => view.stepKept?.(path),
    logged: (...told) => view.logged?.(...told),
    told: (...told) => view.told?.(...told),
    note: (text) => view.note(text),
    rest: () => view.rest(),
  };
}

function runningInspection(
  { record, versionId, attempt, lockSha256 }: UploadedRun,
  records: readonly StepEnd[],
  open: ReadonlyMap<string, { readonly kind: StepKind; readonly startedAtMs: number }>,
): JsonObject {
  return inspectionOf({
    ...{ runId: record.run_id, versionId, sha256: record.sha256, lockSha256, attempt },
    status: 'running',
    startedAtMs: Date.parse(record.started_at),
    endedAtMs: null,
    worker: LOCAL_WORKER,
    records,
    open: Array.from(open, ([path, step]) => ({ path, status: 'running' as const, ...step })),
    ...{ question: null, result: null, error: null },
  });
}
