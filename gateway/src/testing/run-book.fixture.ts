// The runs that the run-scheduler peers of a test share, as real nodes share their database.
import { create } from '@bufbuild/protobuf';
import { type FileId, newId, newRunId, type OrgId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { Answerer, ReceiptSchema, RunStatus, type RunView } from '@methods/proto/run/v1/run_pb';
import type {
  AnswerRun,
  GetStart,
  ListRuns,
  LookupRun,
  StartRun,
} from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { FileBook } from './file-book.fixture.ts';
import { queuedRun } from './queued-run.fixture.ts';

interface Booked {
  readonly orgId: OrgId;
  readonly start: StartRun;
  view: RunView;
}

export class RunBook {
  readonly runs = new Map<string, Booked>();
  /** Saved files by run. */
  readonly archives = new Map<string, readonly Uint8Array[]>();
  /** Reads of archives: all of them, and those in progress. */
  readsBegun = 0;
  archivesRead = 0;
  /** The files callers sent for the inputs of runs. */
  readonly sent = new FileBook();
  readonly starts: StartRun[] = [];
  readonly lists: ListRuns[] = [];
  /** New runs wait for an answer to q_1 when the reply to their start is sent. */
  asksAtOnce = false;
  /** The last answer that counted, by run. */
  private readonly answers = new Map<string, string>();
  private readonly keys = new Map<string, { digest: string; runId: RunId }>();

  start(start: StartRun): { run: RunView; replayed: boolean } {
    this.starts.push(start);
    const key = keyOf(start);
    const known = this.keys.get(key);
    if (known) return { run: this.known(known, start), replayed: true };
    if (start.rerunOf !== '' && this.runs.get(start.rerunOf)?.orgId !== start.orgId) {
      throw new ServiceError('invalid_request', 'rerun_of names no run of the organization.');
    }
    const run = newRun(start);
    this.keys.set(key, { digest: hex(start.requestDigest), runId: run.runId });
    this.runs.set(run.runId, { orgId: start.orgId, start, view: run });
    return { run: this.asksAtOnce ? this.ask(run.runId, 'q_1') : run, replayed: false };
  }

  lookup(lookup: LookupRun): { run: RunView; replayed: boolean } {
    const known = this.keys.get(keyOf(lookup));
    if (!known) throw new ServiceError('not_found');
    return { run: this.known(known, lookup), replayed: true };
  }

  async *files({
    orgId,
    runId,
  }: {
    orgId: OrgId;
    runId: RunId;
  }): AsyncGenerator<{ chunk?: Uint8Array; contentId?: string }> {
    const { contentId } = this.get(orgId, runId);
    this.readsBegun++;
    this.archivesRead++;
    try {
      if (contentId !== '') yield { contentId };
      for (const chunk of this.archives.get(runId) ?? []) yield { chunk };
    } finally {
      this.archivesRead--;
    }
  }

  async *inputFile({ orgId, runId, fileId }: { orgId: OrgId; runId: RunId; fileId: FileId }) {
    this.get(orgId, runId);
    const named = this.runs.get(runId)?.start.files?.fileIds.includes(fileId) === true;
    const sent = named ? this.sent.files.get(fileId) : undefined;
    if (sent === undefined) throw new ServiceError('not_found');
    yield { file: sent.reply };
    yield { chunk: sent.content };
  }

  startOf({ orgId, runId }: GetStart): StartRun {
    this.get(orgId, runId);
    const { start } = this.runs.get(runId) as Booked;
    return { ...start, idempotencyHash: new Uint8Array(0), requestDigest: new Uint8Array(0) };
  }

  get(orgId: OrgId, runId: RunId): RunView {
    const booked = this.runs.get(runId);
    if (!booked || booked.orgId !== orgId) throw new ServiceError('not_found');
    return booked.view;
  }

  /** All runs on one page; filters are left to the real scheduler. */
  list(list: ListRuns): { runs: RunView[]; nextCursor: string } {
    this.lists.push(list);
    const runs = [...this.runs.values()].filter(({ orgId }) => orgId === list.orgId);
    return { runs: runs.map(({ view }) => ({ ...view, steps: [] })), nextCursor: list.cursor === '' ? 'more' : '' };
  }

  answer({ orgId, runId, questionId, answerJson, actor, channel, comment }: AnswerRun): RunView {
    const run = this.get(orgId, runId);
    if (actor?.role === 'viewer') throw new ServiceError('not_an_answerer');
    const given = `${questionId} ${answerJson}`;
    if (this.answers.get(runId) === given) return run;
    if (run.status !== RunStatus.WAITING)
      throw new ServiceError('run_not_waiting', undefined, { facts: { status: 'queued' } });
    if (questionId !== '' && run.question?.id !== questionId) throw new ServiceError('question_changed');
    this.answers.set(runId, given);
    const { id, step = '', prompt = '' } = run.question ?? {};
    const asked = { questionId: id ?? (questionId || 'q_0'), step, prompt, formHash: 'f0', versionHash: 'e0' };
    const receipt = create(ReceiptSchema, {
      ...asked,
      answerJson,
      ...(actor && { actor }),
      channel,
      comment,
      answeredAtMs: 2_000,
    });
    return this.change(runId, { status: RunStatus.QUEUED, answers: [...run.answers, receipt] });
  }

  cancel(orgId: OrgId, runId: RunId): RunView {
    const run = this.get(orgId, runId);
    if (run.status === RunStatus.RUNNING) return this.change(runId, { cancelRequested: true });
    if (run.status === RunStatus.SUCCEEDED)
      throw new ServiceError('run_finished', undefined, { facts: { status: 'succeeded' } });
    return this.change(runId, { status: RunStatus.CANCELLED });
  }

  /** A new committed state. */
  change(runId: RunId, changes: Partial<RunView>): RunView {
    const booked = this.runs.get(runId);
    if (!booked) throw new Error(`no run ${runId}`);
    booked.view = { ...booked.view, ...changes, revision: booked.view.revision + 1 };
    if (booked.view.status !== RunStatus.WAITING) delete booked.view.question;
    return booked.view;
  }

  ask(runId: RunId, questionId = newId('q')): RunView {
    return this.change(runId, {
      status: RunStatus.WAITING,
      question: {
        $typeName: 'methods.run.v1.Question',
        id: questionId,
        step: 'approve',
        prompt: 'Send it?',
        details: '',
        show: [{ $typeName: 'methods.run.v1.ShownValue', path: 'steps.total.sum', valueJson: '42' }],
        formJson: '{"type":"object"}',
        askedAtMs: 1_000,
        deadlineAtMs: 0,
        ...NO_PEOPLE,
      },
    });
  }

  succeed(runId: RunId, resultJson: string): RunView {
    return this.change(runId, { status: RunStatus.SUCCEEDED, resultJson });
  }

  private known(known: { digest: string; runId: RunId }, asked: StartRun | LookupRun): RunView {
    if (known.digest !== hex(asked.requestDigest)) throw new ServiceError('idempotency_conflict');
    return this.get(asked.orgId, known.runId);
  }
}

/** A question without rules. */
const NO_PEOPLE = {
  votes: [],
  assignee: '',
  delegations: [],
  escalatedAtMs: 0,
  formSha256: '',
  versionSha256: '',
  sealed: new Uint8Array(),
  hasTimeoutAnswer: false,
};

function newRun({ method, versionId, answerBy, metadata, contentId }: StartRun): RunView {
  const answerer = answerBy === Answerer.APPLICATION ? Answerer.APPLICATION : Answerer.TEAM;
  const facts = { runId: newRunId(3), method, versionId, createdAtMs: Date.now() };
  return queuedRun(facts, { answerBy: answerer, metadata, contentId });
}

function keyOf({ orgId, idempotencyHash }: { orgId: OrgId; idempotencyHash: Uint8Array }): string {
  return `${orgId}/${hex(idempotencyHash)}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
