// `methods start --from FILE`: a run for each line of inputs, started a thousand at a time, or as many as a slow pipe
// has brought.
import type { JsonObject } from '@methods/method/json';
import type { CommandContext } from '../command/command.ts';
import type { SealedStarts } from '../device/sealed-starts.ts';
import { CommandError, EXIT, type ExitCode } from '../errors/command-error.ts';
import { RUNS } from '../server/run-calls.ts';
import type { ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { plainText } from '../terminal/plain-text.ts';
import { countOf } from '../terminal/words.ts';
import { type InputLine, inputLines, LineKeys } from './input-lines.ts';

/** As many as a server accepts at once, with room for the names around the inputs. */
const RUNS_MAX = 1_000;
const BYTES_MAX = 3 * 1024 * 1024;
const BYTES_AROUND = 300;
const SEALED_BYTES_AROUND = 500;
/** A pipe that brings nothing for this long does not delay the runs of the lines before. */
const PAUSE_MS = 500;
/** How long a busy server that accepts nothing is asked again. */
const PATIENCE_MS = 60_000;
const WAIT_MS_MIN = 50;

interface Start {
  readonly line: number;
  readonly body: JsonObject;
  /** In device mode; see SealedStarts. */
  earlier(grant: number): JsonObject | null;
}

interface Outcome {
  readonly status: number;
  readonly run?: { readonly run_id: string; readonly status: string };
  readonly error?: unknown;
  /** Seconds. */
  readonly retry_after?: number;
}

export interface AskedRuns {
  /** `-`: standard input. */
  readonly file: string;
  /** Production form. */
  readonly method: string;
  readonly version: string | undefined;
  /** Empty for none. */
  readonly key: string;
  /** Absent: the organization keeps content with the service. */
  readonly sealing?: SealedStarts | null;
}

export async function startFrom(api: ServerApi, asked: AskedRuns, context: CommandContext): Promise<ExitCode> {
  const { method, version, key, file, sealing = null } = asked;
  const server = sealing?.api ?? api;
  const digestOf = sealing === null ? undefined : (inputs: JsonObject) => sealing.digestOf(inputs);
  const keys = new LineKeys(key, method, version ?? 'published', digestOf);
  const told = new ToldRuns(context);
  let starts: Start[] = [];
  let bytes = 0;
  const send = async () => {
    if (starts.length > 0) await startAll(server, starts, told);
    starts = [];
    bytes = 0;
  };
  const lines = inputLines(file, context, context.output.streams.stdin);
  for (;;) {
    const next = lines.next();
    if (starts.length > 0 && (await pauses(next))) await send();
    const { done, value: line } = await next;
    if (done) break;
    const size = line.ok ? sizeOf(line.bytes, sealing) : 0;
    if (starts.length === RUNS_MAX || bytes + size > BYTES_MAX) await send();
    if (!line.ok) {
      // In the order of the lines.
      await send();
      told.unreadable(line);
      continue;
    }
    const { inputs } = line;
    const given = version === undefined ? {} : { version };
    const plain = { method, inputs, idempotency_key: keys.keyOf(inputs), ...given };
    const body = sealedLine(plain, sealing);
    if (body instanceof ServerRefusal) {
      await send();
      told.refusal(line.line, body);
      continue;
    }
    starts.push({ line: line.line, body, earlier: (grant) => sealing?.earlier(plain, grant) ?? null });
    bytes += size;
  }
  await send();
  return told.end();
}

/** Reports whether the next line takes its time. */
function pauses(next: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, PAUSE_MS, true);
    next.then(() => resolve(false), reject).finally(() => clearTimeout(timer));
  });
}

/** Inputs that cannot be sealed are refused as the server refuses others: the other lines are started. */
function sealedLine(plain: JsonObject, sealing: SealedStarts | null): JsonObject | ServerRefusal {
  try {
    return sealing === null ? plain : sealing.sealed(plain);
  } catch (error) {
    if (error instanceof ServerRefusal) return error;
    throw error;
  }
}

function sizeOf(bytes: number, sealing: SealedStarts | null): number {
  return sealing === null ? bytes + BYTES_AROUND : Math.ceil((bytes * 4) / 3) + SEALED_BYTES_AROUND;
}

async function startAll(api: ServerApi, starts: readonly Start[], told: ToldRuns): Promise<void> {
  const outcomes = await outcomesOf(api, starts);
  for (let grant = 0; ; grant++) {
    const again = starts.flatMap((start) => {
      const body = isOtherStart(outcomes.get(start)) ? start.earlier(grant) : null;
      return body === null ? [] : [{ start, earlier: { ...start, body } }];
    });
    if (again.length === 0) break;
    const others = await outcomesOf(
      api,
      again.map(({ earlier }) => earlier),
    );
    for (const { start, earlier } of again) {
      const outcome = others.get(earlier);
      if (outcome !== undefined && !isOtherStart(outcome)) outcomes.set(start, outcome);
    }
  }
  for (const start of starts) told.outcome(start.line, outcomes.get(start) as Outcome);
}

/** Another start had its idempotency key. */
function isOtherStart(outcome: Outcome | undefined): boolean {
  return outcome?.status === 409 && new ServerRefusal(409, outcome.error).code === 'idempotency_conflict';
}

/** Sends the starts that a busy server did not accept again. */
async function outcomesOf(api: ServerApi, starts: readonly Start[]): Promise<Map<Start, Outcome>> {
  const outcomes = new Map<Start, Outcome>();
  let left = starts;
  let untilMs = performance.now() + PATIENCE_MS;
  while (left.length > 0) {
    const items = await sent(api, left);
    let waitMs = 0;
    const again: Start[] = [];
    for (const [n, start] of left.entries()) {
      const outcome = items[n] as Outcome;
      outcomes.set(start, outcome);
      if (outcome.status !== 429 && outcome.status !== 503) continue;
      again.push(start);
      waitMs = Math.max(waitMs, (outcome.retry_after ?? 1) * 1_000, WAIT_MS_MIN);
    }
    if (again.length < left.length) untilMs = performance.now() + PATIENCE_MS;
    left = again;
    if (left.length === 0 || performance.now() + waitMs > untilMs) break;
    await api.wait(waitMs);
  }
  return outcomes;
}

async function sent(api: ServerApi, starts: readonly Start[]): Promise<readonly Outcome[]> {
  const runs = starts.map(({ body }) => body);
  const { value } = await api
    .send<{ items: Outcome[] }>('POST', `${RUNS}/batch`, { runs }, { idempotent: true })
    .catch((error: unknown) => {
      if (!(error instanceof CommandError) || error instanceof ServerRefusal) throw error;
      const hint = 'repeat the command: runs that have started are not started again';
      throw new CommandError(error.code, error.message, { hint, cause: error });
    });
  if (Array.isArray(value.items) && value.items.length === starts.length) return value.items;
  throw new CommandError('bad_reply', `${api.baseUrl} did not answer each of the starts`);
}

/** Reports each line: the id of its run on stdout, or its error on stderr. */
class ToldRuns {
  private started = 0;
  private repeated = 0;
  private refused = 0;

  constructor(private readonly context: CommandContext) {}

  outcome(line: number, { status, run, error }: Outcome): void {
    const { output } = this.context;
    if (run === undefined) return this.refusal(line, new ServerRefusal(status, error), error);
    if (status === 201) this.started++;
    else this.repeated++;
    output.result(run.run_id);
    output.jsonLine({ line, status, run });
  }

  refusal(line: number, { status, code, message, details }: ServerRefusal, error?: unknown): void {
    this.wrong(line, [message, ...details.map(detailText)].join('; '));
    const shown = { error: code, message, ...(details.length > 0 && { details }) };
    this.context.output.jsonLine({ line, status: status || 400, error: error ?? shown });
  }

  unreadable({ line, message }: InputLine & { ok: false }): void {
    this.wrong(line, message);
    this.context.output.jsonLine({ line, status: 400, error: { error: 'invalid_inputs', message } });
  }

  end(): ExitCode {
    const { output } = this.context;
    const parts = [`${countOf(this.started, 'run')} started`];
    if (this.repeated > 0) parts.push(`${this.repeated} started before`);
    if (this.refused > 0) parts.push(`${countOf(this.refused, 'line')} refused`);
    output.note(parts.join(', '));
    return this.refused > 0 ? EXIT.failed : EXIT.done;
  }

  private wrong(line: number, message: string): void {
    this.refused++;
    this.context.output.complaint(`line ${line}: ${plainText(message)}\n`);
  }
}

function detailText({ path, message }: { readonly path?: string; readonly message?: string }): string {
  return [path, message].filter(Boolean).join(' ');
}
