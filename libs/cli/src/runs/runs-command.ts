// `methods runs`: lists, shows, watches, cancels and reruns runs on a server.
import { randomUUID } from 'node:crypto';
import type { Run } from '@methods/api/run';
import { namedMethod } from '../chosen-server/named-method.ts';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { shownRun } from '../device/device-content.ts';
import { SealedStarts } from '../device/sealed-starts.ts';
import { CommandError, EXIT, type ExitCode, UsageError } from '../errors/command-error.ts';
import { RUN_STATUSES, RUNS_WORDS } from '../help-words.ts';
import { noteMore, readPage } from '../server/page.ts';
import {
  getRun,
  type LocalRunOnServer,
  RUNS,
  refuseMalformedRunId,
  runPath,
  type StartedRun,
  startedRun,
  unlessStarted,
} from '../server/run-calls.ts';
import type { Query, ServerApi } from '../server/server-api.ts';
import { ServerRefusal } from '../server/server-refusal.ts';
import { table, tableWidth } from '../terminal/table.ts';
import { timeOf, timeSpan } from '../terminal/words.ts';
import { ServerRunView, statusWord, statusWords } from './server-run-view.ts';
import { showAnswers } from './show-answers.ts';
import { showRunEnd, watchToRest } from './show-server-run.ts';

type Action = (line: CommandLine, context: CommandContext, runId: string) => Promise<ExitCode>;
const ACTIONS: Readonly<Record<string, Action>> = { list, show, watch, cancel, rerun };
/** The actions of an option; all take --server. */
const OWN_OPTIONS: Readonly<Record<string, string>> = {
  ...{ status: 'list', method: 'list', kind: 'list', limit: 'list', cursor: 'list' },
  ...{ wait: 'rerun', 'from-step': 'rerun' },
};
const KINDS = ['production', 'local'];

export const runsCommand: Command = {
  ...RUNS_WORDS,

  async run(line, context) {
    const [word = '', runId] = line.operands;
    const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
    if (action === undefined) {
      throw new UsageError(`runs cannot "${word}"`, `it can ${Object.keys(ACTIONS).join(', ')}`);
    }
    for (const [name, owner] of Object.entries(OWN_OPTIONS)) {
      const given = name === 'wait' ? line.flag(name) : line.text(name) !== undefined;
      if (given && owner !== word) throw new UsageError(`runs ${word} has no option --${name}`);
    }
    if (action === list && runId !== undefined) throw new UsageError(`runs list does not take "${runId}"`);
    if (action !== list && runId === undefined)
      throw new UsageError(`runs ${word} needs a RUN_ID`, 'methods runs list');
    if (runId !== undefined) refuseMalformedRunId(runId);
    return action(line, context, runId ?? '');
  },
};

async function list(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { output, cwd } = context;
  const kind = oneOf('kind', line.text('kind') ?? 'production', KINDS);
  const status = line.text('status');
  const method = line.text('method');
  const query: Query = { ...(status === undefined ? {} : { status: oneOf('status', status, RUN_STATUSES) }) };
  const api = await openServer(line, context);
  const id = method === undefined ? undefined : (await namedMethod(api, method, cwd)).id;
  // Records of local runs are only for people.
  const path = kind === 'local' ? '/api/runs' : RUNS;
  const asked = { ...query, ...(kind === 'local' ? { kind } : {}), ...(id === undefined ? {} : { method: id }) };
  const page = await readPage<Run | LocalRunOnServer>(api, path, line, asked);
  output.document(page);
  output.result(
    table(['ID', 'STATUS', 'CREATED', 'RAN', 'METHOD'], page.items.map(rowOf), tableWidth(output)).join('\n'),
  );
  if (page.items.length === 0) output.note('There are no such runs.');
  noteMore(page, output);
  return EXIT.done;
}

function rowOf(run: Run | LocalRunOnServer): string[] {
  if ('kind' in run) return [run.run_id, run.status ?? '', timeOf(run.created_at), '', run.method];
  const { timing } = run;
  return [run.run_id, statusWord(run), timeOf(timing.created_at), timeSpan(timing.running_ms), run.method];
}

async function show(line: CommandLine, context: CommandContext, runId: string): Promise<ExitCode> {
  const { output } = context;
  const api = await openServer(line, context);
  const run = await getRun(api, runId).catch((error: unknown) => localRecord(api, runId, error));
  if ('kind' in run) {
    output.document(run);
    output.result(`${run.run_id} ${run.status ?? ''}, a run on a person's own computer`);
    output.result(`method ${run.method}, version ${run.version_id}, ${timeOf(run.created_at)}`);
    return EXIT.done;
  }
  const shown = await shownRun(api, run, context);
  output.line(`${run.run_id} ${statusWords(run)}`);
  output.line(output.paint('dim', `method ${run.method}, version ${run.version_id}, ${timeOf(run.timing.created_at)}`));
  new ServerRunView(output).list(shown.run);
  showAnswers(run, output);
  const ended = showRunEnd(shown, output);
  return ended === EXIT.waiting ? EXIT.waiting : EXIT.done;
}

async function localRecord(api: ServerApi, runId: string, error: unknown): Promise<LocalRunOnServer> {
  const isUnknown = error instanceof ServerRefusal && error.code === 'not_found';
  if (!isUnknown || api.credentialKind('/api/runs') === 'none') throw error;
  return api.get<LocalRunOnServer>(`/api/runs/${encodeURIComponent(runId)}`).catch(() => {
    throw error;
  });
}

async function watch(line: CommandLine, context: CommandContext, runId: string): Promise<ExitCode> {
  return watchToRest(await openServer(line, context), runId, context);
}

async function cancel(line: CommandLine, context: CommandContext, runId: string): Promise<ExitCode> {
  const { output } = context;
  const api = await openServer(line, context);
  // A run that is already cancelled is reported as such: a repeat is harmless.
  const { value, status } = await api.send<Run>('POST', `${runPath(runId)}/cancel`, undefined, {
    idempotent: true,
  });
  output.document(value);
  output.result(status === 202 ? `${runId} will be cancelled: its worker is notified` : `${runId} is cancelled`);
  return EXIT.done;
}

async function rerun(line: CommandLine, context: CommandContext, runId: string): Promise<ExitCode> {
  const { output } = context;
  const api = await openServer(line, context);
  const step = line.text('from-step');
  const value = await rerunOf(api, runId, step)
    .catch(async (error: unknown) => {
      if (!(error instanceof ServerRefusal) || error.code !== 'device_mode_required') throw error;
      // Only the key on this machine opens its inputs.
      return sealedRerunOf(await getRun(api, runId), step, api, context);
    })
    .catch((error: unknown) => {
      throw unlessStarted(error, 'look for it with  methods runs list  before you repeat the command');
    });
  if (line.flag('wait')) return watchToRest(api, value.run_id, context);
  output.document(value);
  output.result(value.run_id);
  output.note(`Watch it with:  methods runs watch ${value.run_id}`);
  return EXIT.done;
}

/** With its own key, a request with an uncertain reply may be repeated: it is one run in any case. */
async function rerunOf(api: ServerApi, runId: string, step: string | undefined): Promise<StartedRun> {
  const body = { idempotency_key: randomUUID(), ...(step === undefined ? {} : { from_step: step }) };
  return (await api.send<StartedRun>('POST', `${runPath(runId)}/rerun`, body, { idempotent: true })).value;
}

/** @throws CommandError */
async function sealedRerunOf(
  run: Run,
  step: string | undefined,
  api: ServerApi,
  context: CommandContext,
): Promise<StartedRun> {
  const { run_id: runId, content_id: contentId } = run;
  if (contentId === undefined) {
    const message = `the organization keeps run content on devices by now, and the inputs of ${runId} are not sealed`;
    throw new CommandError('device_mode_required', message, { hint: 'methods start METHOD --inputs JSON' });
  }
  if (step !== undefined) {
    const message = `${runId} is in device mode, and is repeated from its first step: the outs of its steps are sealed for it`;
    throw new CommandError('device_mode_unsupported', message, { hint: 'leave --from-step out' });
  }
  const sealing = await SealedStarts.withKey(api, context);
  return startedRun(sealing.api, { ...(await sealing.again(runId)), idempotency_key: randomUUID() });
}

function oneOf(option: string, given: string, known: readonly string[]): string {
  if (known.includes(given)) return given;
  throw new UsageError(`--${option} cannot be "${given}"`, `it is one of ${known.join(', ')}`);
}
