// The tools of runs: start, read, list and cancel them. Each does the same as the HTTP route of the same name.
import { isId, type RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import type { RunView } from '@methods/proto/run/v1/run_pb';
import type { InputRequiredResult } from '@modelcontextprotocol/server';
import { Type } from 'typebox';
import type { RunAddress } from '../../clients/watched-runs.ts';
import { cancelledRun } from '../../routes/runs/answer-run.ts';
import { productionRuns, RunPage, RunsQuery } from '../../routes/runs/list-runs.ts';
import { runShown } from '../../routes/runs/run-acts.ts';
import { checkWaited, waitingCaller } from '../../routes/runs/run-reply.ts';
import { StartRunBody } from '../../routes/runs/run-schemas.ts';
import { startedRun } from '../../routes/runs/start-run.ts';
import { startContext } from '../../routes/runs/start-steps.ts';
import { type Asked, answeredByUser, askedBefore, askUser } from '../asked-user.ts';
import { AgentRun, runOutcome } from '../run-outcome.ts';
import { type Tool, type ToolCall, type ToolOutcome, tool } from '../tool.ts';
import { reportProgress } from '../tool-results.ts';
import { checkedMethod, MethodArgument, ofMethod } from './method-argument.ts';

const Closed = { additionalProperties: false } as const;
const WAIT_MS_MAX = 30_000;

export const RunArgument = Type.String({ maxLength: 64, description: 'run_…, as start_run and list_runs give it.' });
export function waitMs(byDefault = 0) {
  return Type.Integer({
    minimum: 0,
    maximum: WAIT_MS_MAX,
    description: `Wait this long for the run to finish or to begin to wait for an answer; default ${byDefault}.`,
  });
}
const WaitMs = Type.Optional(waitMs());

const { inputs, version, idempotency_key, metadata } = StartRunBody.properties;

const startRun = tool({
  name: 'start_run',
  title: 'Start a run',
  description:
    'Starts a run of a method’s published version, or of the version you name, with you (the signed-in person) as its ' +
    'starter. It has real effects: start one only when the user asks for it. Make one idempotency_key for each run ' +
    'that the user wants and repeat it after a lost reply: the same key and values give the same run. With wait_ms it ' +
    'replies when the run finishes or waits for an answer; otherwise poll with get_run.',
  access: 'member',
  input: Type.Object(
    { method_id: MethodArgument, inputs, version, idempotency_key, metadata, wait_ms: WaitMs },
    Closed,
  ),
  output: AgentRun,
  hints: { readOnly: false, destructive: true },
  call: ({ method_id, wait_ms, ...rest }, call) =>
    ofMethod(call, method_id, (methodId) => startedOutcome(call, { ...rest, method: methodId }, wait_ms)),
});

/** Starts a run and waits for it, if asked to. */
export async function startedOutcome(
  call: ToolCall,
  body: Parameters<typeof startedRun>[2],
  waitMs = 0,
): Promise<ToolOutcome | InputRequiredResult> {
  const { request, reply, parts } = call;
  const asked = askedBefore(call);
  if (asked !== null) return afterAnswer(call, asked);
  const { run } = await startedRun(request, parts, body, startContext(request, reply));
  if (waitMs === 0) return shownRun(call, run);
  const rested = await waited(call, addressOf(call, run.runId), waitMs, null);
  return (await askUser(call, rested, waitMs)) ?? shownRun(call, rested);
}

/** Returns the run that the caller started before, once its user has answered. */
async function afterAnswer(call: ToolCall, asked: Asked): Promise<ToolOutcome | InputRequiredResult> {
  const { questionId, waitMs } = asked;
  const { runId } = await answeredByUser(call, asked);
  const rested = await waited(call, addressOf(call, runId), waitMs, questionId);
  return (await askUser(call, rested, waitMs)) ?? shownRun(call, rested);
}

const getRun = tool({
  name: 'get_run',
  title: 'Read a run',
  description:
    'Reads a run: its status, steps, question, result or error. With wait_ms it replies when the run finishes or waits ' +
    'for an answer, with progress notifications at each step where your client asks for them; with after_question it ' +
    'waits past that question. A run keeps going whether or not you read it.',
  access: 'viewer',
  input: Type.Object(
    {
      run_id: RunArgument,
      wait_ms: WaitMs,
      after_question: Type.Optional(Type.String({ maxLength: 64, description: 'q_…: wait past this question.' })),
    },
    Closed,
  ),
  output: AgentRun,
  hints: { readOnly: true },
  async call({ run_id, wait_ms = 0, after_question }, call) {
    const address = addressOf(call, runIdOf(run_id));
    const afterQuestion = after_question ?? null;
    const run =
      wait_ms === 0 ? await call.parts.scheduler.getRun(address) : await waited(call, address, wait_ms, afterQuestion);
    return shownRun(call, run);
  },
});

const listRuns = tool({
  name: 'list_runs',
  title: 'List runs',
  description:
    'Lists runs, newest first, without their steps and results; by status, method or time. Use it to find a run whose ' +
    'id you do not have, or runs that wait or have failed.',
  access: 'viewer',
  input: Type.Object(RunsQuery.properties, Closed),
  output: Type.Object({ runs: RunPage.properties.items, next_cursor: RunPage.properties.next_cursor }),
  hints: { readOnly: true },
  async call(args, call) {
    const { parts, orgId, request } = call;
    const { items, next_cursor } = JSON.parse(
      await productionRuns(parts, { orgId, requestId: request.id, people: false }, args),
    );
    if (items.length === 0) await checkedMethod(call, args.method);
    const more = next_cursor === null ? '' : ' There may be more: call again with cursor = next_cursor.';
    return {
      summary: `${items.length} run${items.length === 1 ? '' : 's'}.${more}`,
      data: { runs: items, next_cursor },
    };
  },
});

const cancelRun = tool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description:
    'Cancels a run that has not finished. What its steps have done stays done. A running step may end before its worker is ' +
    'notified: then cancel_requested is true, and get_run shows the end.',
  access: 'member',
  input: Type.Object({ run_id: RunArgument }, Closed),
  output: AgentRun,
  hints: { readOnly: false, destructive: true, idempotent: true },
  async call({ run_id }, call) {
    const run = await cancelledRun(call.request, call.parts, runIdOf(run_id));
    return runOutcome(call.parts, call.orgId, run);
  },
});

export const RUN_TOOLS: readonly Tool[] = [startRun, getRun, listRuns, cancelRun];

/** @throws not_found for an invalid id */
export function runIdOf(id: string): RunId {
  if (!isId('run', id)) throw new ServiceError('not_found', 'There is no such run. See list_runs.');
  return id;
}

export function addressOf({ orgId, request }: ToolCall, runId: RunId): RunAddress {
  return { orgId, runId, requestId: request.id };
}

/** Returns the run when it finishes or begins to wait, or when the time is up. */
async function waited(
  call: ToolCall,
  address: RunAddress,
  waitMs: number,
  afterQuestion: string | null,
): Promise<RunView> {
  const stop = await reportProgress(call, address);
  try {
    const wait = { waitMs, afterQuestion };
    const run = await call.parts.scheduler.waitForRun(address, wait, waitingCaller(call.reply));
    await checkWaited(call.reply);
    return run;
  } finally {
    stop();
  }
}

/** Returns a whole run, and records that it was read. */
async function shownRun(call: ToolCall, run: RunView): Promise<ToolOutcome> {
  await runShown(call.request, call.parts, run.runId);
  return runOutcome(call.parts, call.orgId, run);
}
