// Follows a run on a server, shows its outcome and returns its exit code. `start`, `runs` and `answer` share it.
import type { Run } from '@methods/api/run';
import { Backoff } from '@methods/base/backoff';
import type { CommandContext } from '../command/command.ts';
import { shownRun } from '../device/device-content.ts';
import { CommandError, EXIT, type ExitCode } from '../errors/command-error.ts';
import { showForm, showQuestion } from '../question/show-question.ts';
import { getRun, isFinished, runPath } from '../server/run-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { ServerRunView, statusWords } from './server-run-view.ts';
import { showVotes } from './show-answers.ts';

const POLL_MS = 500;
/** Events may be lost unnoticed if something between here and the server holds them back. */
const STREAMED_POLL_MS = 15_000;
const AWAY = ['unreachable', 'unavailable', 'rate_limited', 'internal'];

/** Shows the run until it has finished or waits for an answer. An interrupt does not end the run itself. */
export async function watchToRest(api: ServerApi, runId: string, context: CommandContext): Promise<ExitCode> {
  const { output, interrupted } = context;
  const view = new ServerRunView(output);
  let last: Run | null = null;
  try {
    const onAway = (away: boolean) => view.serverAway(away);
    for await (const run of followRun(api, runId, { signal: interrupted, onAway })) {
      last = run;
      view.show(run);
      if (run.status === 'waiting') break;
    }
  } finally {
    view.rest();
  }
  if (last === null || interrupted.aborted) {
    output.note(`The run continues. Watch it again with:  methods runs watch ${runId}`);
    return EXIT.interrupted;
  }
  return showRunEnd(await shownRun(api, last, context), output);
}

/** `closed`: why the content of a run in device mode is not shown. */
export function showRunEnd(
  { run, closed = null }: { readonly run: Run; readonly closed?: CommandError | null },
  output: Output,
): ExitCode {
  output.document(run);
  if (closed !== null) {
    output.note(`${closed.message}.`);
    if (closed.hint !== undefined) output.note(`To read it, ${closed.hint}.`);
  }
  switch (run.status) {
    case 'succeeded':
      if (run.result_at === 'worker') output.line('Its result is on the machine of its worker.');
      else output.result(JSON.stringify(run.result ?? null, null, 2));
      return EXIT.done;
    case 'failed': {
      const { code = 'failed', message = '', step } = run.error ?? {};
      const where = step === undefined ? 'the run failed' : `step ${plainText(step)} failed`;
      if (!output.json) output.error({ code, message: `${where}: ${plainText(message)}`, hint: undefined });
      return EXIT.failed;
    }
    case 'cancelled':
      if (!output.json) output.error({ code: 'cancelled', message: 'the run was cancelled', hint: undefined });
      return EXIT.failed;
    case 'waiting':
      if (run.question !== undefined && run.question.sealed === undefined) {
        showQuestion(run.question, output);
        showVotes(run.question, output);
        showForm(run.question, output);
      }
      output.line();
      output.result(`The run waits for an answer. Give it with:  methods answer ${run.run_id}`);
      return EXIT.waiting;
    default:
      output.result(`${run.run_id} is ${statusWords(run)}`);
      return EXIT.done;
  }
}

interface FollowOptions {
  readonly signal: AbortSignal;
  /** The server is unavailable, and available again. */
  readonly onAway: (away: boolean) => void;
}

/**
 * The run as it is, and at each change until it ends. The server's events report that something changed; a server
 * without them, or an unavailable one, is polled. The last one is finished, unless the reader stops before.
 * @throws CommandError, but not for an unavailable server.
 */
async function* followRun(api: ServerApi, runId: string, options: FollowOptions): AsyncGenerator<Run> {
  let run = await getRun(api, runId);
  yield run;
  if (isFinished(run)) return;
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, options.signal]);
  const changes = new RunChanges(api, runId, signal);
  const away = new Backoff({ firstMs: 200, maxMs: 5_000 });
  let isAway = false;
  try {
    while (!isFinished(run)) {
      await (isAway ? pause(away.nextMs(), signal) : changes.next());
      if (signal.aborted) return;
      const found = await getRun(api, runId).catch((error: unknown) => {
        if (error instanceof CommandError && AWAY.includes(error.code)) return null;
        throw error;
      });
      if ((found === null) !== isAway) options.onAway(found === null);
      isAway = found === null;
      if (found === null) continue;
      away.reset();
      run = found;
      yield run;
    }
  } finally {
    end.abort();
  }
}

class RunChanges {
  private streaming = false;
  private changed = true;
  private wake: () => void = () => {};

  constructor(
    private readonly api: ServerApi,
    private readonly runId: string,
    private readonly signal: AbortSignal,
  ) {
    void this.listen();
  }

  /** Resolves at a change, or when it is time to poll. Many changes at once count as one. */
  async next(): Promise<void> {
    if (!this.changed) {
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      await Promise.race([woken, pause(this.streaming ? STREAMED_POLL_MS : POLL_MS, this.signal)]);
    }
    this.changed = false;
  }

  private async listen(): Promise<void> {
    const backoff = new Backoff({ firstMs: 500, maxMs: 15_000 });
    while (!this.signal.aborted) {
      try {
        for await (const _event of this.api.stream(`${runPath(this.runId)}/events`, this.signal)) {
          this.streaming = true;
          backoff.reset();
          this.notify();
        }
      } catch {
        // Without events the run is read, which also shows whether the server is unavailable.
      }
      this.streaming = false;
      this.notify();
      await pause(backoff.nextMs(), this.signal);
    }
  }

  private notify(): void {
    this.changed = true;
    this.wake();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
