// `methods endpoints`: webhooks and chats that get the events of all runs, and what was sent to them.
import { isId } from '@methods/base/ids';
import { parseDuration } from '@methods/method/structure/duration';
import { openServer } from '../chosen-server/open-server.ts';
import type { Command, CommandContext } from '../command/command.ts';
import type { CommandLine } from '../command/command-line.ts';
import { EXIT, type ExitCode, UsageError } from '../errors/command-error.ts';
import { ENDPOINT_EVENTS, ENDPOINTS_WORDS } from '../help-words.ts';
import { noteMore, readPage } from '../server/page.ts';
import type { Page } from '../server/server-api.ts';
import { hintIfUncertain } from '../server/server-refusal.ts';
import type { Output } from '../terminal/output.ts';
import { plainText } from '../terminal/plain-text.ts';
import { table, tableWidth } from '../terminal/table.ts';
import { timeOf } from '../terminal/words.ts';
import {
  endpointPath,
  type OneEndpoint,
  type Resent,
  type ServerDelivery,
  type ServerEndpoint,
} from './endpoint-calls.ts';

type Action = (line: CommandLine, context: CommandContext, ids: readonly string[]) => Promise<ExitCode>;
const ACTIONS: Readonly<Record<string, Action>> = {
  list,
  create,
  rotate,
  pause: (line, context, ids) => setPaused(line, context, ids, true),
  resume: (line, context, ids) => setPaused(line, context, ids, false),
  delete: remove,
  deliveries,
  resend,
};
const TAKES_ENDPOINT = ['rotate', 'pause', 'resume', 'delete'];
/** The actions of an option; all take --server. */
const OWN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  ...{ name: ['create'], url: ['create'], format: ['create'], overlap: ['rotate'] },
  ...{ status: ['deliveries', 'resend'], endpoint: ['deliveries', 'resend'], run: ['deliveries'] },
  ...{ limit: ['deliveries'], cursor: ['deliveries'] },
};
const FORMATS: readonly string[] = ['webhook', 'slack', 'teams'];
/** Events that people in a chat want; an application takes all. */
const CHAT_EVENTS = ['needs_input', 'question.reminded', 'question.escalated', 'failed'];

export const endpointsCommand: Command = {
  ...ENDPOINTS_WORDS,

  async run(line, context) {
    const [word = '', ...ids] = line.operands;
    const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
    if (action === undefined) {
      throw new UsageError(`endpoints cannot "${word}"`, `it can ${Object.keys(ACTIONS).join(', ')}`);
    }
    for (const [name, owners] of Object.entries(OWN_OPTIONS)) {
      if (line.text(name) !== undefined && !owners.includes(word))
        throw new UsageError(`endpoints ${word} has no option --${name}`);
    }
    if (line.texts('event').length > 0 && word !== 'create')
      throw new UsageError(`endpoints ${word} has no option --event`);
    if (TAKES_ENDPOINT.includes(word)) {
      if (ids.length !== 1) throw new UsageError(`endpoints ${word} needs one ENDPOINT_ID`, 'methods endpoints list');
    } else if (word !== 'resend' && ids.length > 0) {
      throw new UsageError(`endpoints ${word} does not take "${ids[0]}"`);
    }
    return action(line, context, ids);
  },
};

async function list(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const page = await (await openServer(line, context)).get<Page<ServerEndpoint>>('/api/endpoints');
  output.document(page);
  const rows = page.items.map(({ id, format, paused, events, url, name }) => [
    id,
    paused ? 'paused' : format,
    events.join(','),
    url,
    name,
  ]);
  output.result(table(['ID', 'FORMAT', 'EVENTS', 'URL', 'NAME'], rows, tableWidth(output)).join('\n'));
  if (rows.length === 0)
    output.note('There are no endpoints. Make one:  methods endpoints create --name NAME --url URL');
  return EXIT.done;
}

async function create(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const [name, url, format = 'webhook'] = [line.text('name'), line.text('url'), line.text('format')];
  if (name === undefined || url === undefined) {
    const example = 'methods endpoints create --name "On call" --url https://hooks.example.com/in';
    throw new UsageError('endpoints create needs --name NAME and --url URL', example);
  }
  const given = line.texts('event');
  for (const [option, texts, known] of [
    ['format', [format], FORMATS],
    ['event', given, ENDPOINT_EVENTS],
  ] as const) {
    const unknown = texts.find((text) => !known.includes(text));
    if (unknown !== undefined)
      throw new UsageError(`--${option} cannot be "${unknown}"`, `it is one of ${known.join(', ')}`);
  }
  const usual = format === 'webhook' ? ENDPOINT_EVENTS : CHAT_EVENTS;
  const body = { name, url, format, events: given.length === 0 ? usual : given };
  const api = await openServer(line, context);
  const hint = `try again; if  methods endpoints list  shows "${plainText(name)}", it was made:  methods endpoints rotate ENDPOINT_ID`;
  const { value } = await api.send<OneEndpoint>('POST', '/api/endpoints', body).catch(hintIfUncertain(hint));
  showsSecret(value, output);
  output.document(value);
  const { id, events } = value.endpoint;
  output.line(`Made the endpoint "${plainText(value.endpoint.name)}" (${id}) for ${events.join(', ')}.`);
  showSecret(value, context);
  return EXIT.done;
}

/** A repeat would create another secret. */
async function rotate(line: CommandLine, context: CommandContext, [id = '']: readonly string[]): Promise<ExitCode> {
  const { output } = context;
  const path = endpointPath(id);
  const overlap = line.text('overlap');
  const overlapMs = overlap === undefined ? undefined : overlap === '0' ? 0 : parseDuration(overlap);
  if (overlap !== undefined && overlapMs === undefined)
    throw new UsageError('--overlap is a time like 2h or 3d, at most 7d; 0 ends earlier secrets');
  const body = overlapMs === undefined ? {} : { overlap_ms: overlapMs };
  const api = await openServer(line, context);
  const hint = 'run it again: the secret may have been replaced, and no one has the new one';
  const { value } = await api.send<OneEndpoint>('POST', `${path}/rotate`, body).catch(hintIfUncertain(hint));
  showsSecret(value, output);
  output.document(value);
  const until = value.endpoint.earlier_secret_until;
  output.line(
    until === null
      ? `${id} has a new secret. Earlier ones sign no more.`
      : `${id} has a new secret. The earlier one signs too until ${timeOf(until)}.`,
  );
  showSecret(value, context);
  return EXIT.done;
}

/** Called before anything is printed. */
function showsSecret({ endpoint: { id }, webhook_secret: secret }: OneEndpoint, output: Output): void {
  if (secret === undefined) return;
  output.ifLost = `no one has the secret of ${id}: make another one with  methods endpoints rotate ${id} --overlap 0`;
}

function showSecret({ webhook_secret: secret }: OneEndpoint, { output }: CommandContext): void {
  if (secret === undefined) return;
  output.line('This is shown once; keep it where the webhooks are received:');
  output.result(`WEBHOOK_SECRET=${secret}`);
}

async function setPaused(
  line: CommandLine,
  context: CommandContext,
  [id = '']: readonly string[],
  paused: boolean,
): Promise<ExitCode> {
  const path = endpointPath(id);
  const api = await openServer(line, context);
  const { value } = await api.send<OneEndpoint>('PATCH', path, { paused }, { idempotent: true });
  context.output.document(value);
  context.output.result(paused ? `${id} is paused: it gets nothing until it is resumed` : `${id} gets events again`);
  return EXIT.done;
}

async function remove(line: CommandLine, context: CommandContext, [id = '']: readonly string[]): Promise<ExitCode> {
  const path = endpointPath(id);
  await (await openServer(line, context)).send('DELETE', path);
  context.output.document({ id });
  context.output.result(`${id} is deleted; what was pending for it is not sent`);
  return EXIT.done;
}

async function deliveries(line: CommandLine, context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const api = await openServer(line, context);
  const [status, endpoint, run] = [line.text('status'), line.text('endpoint'), line.text('run')];
  const page = await readPage<ServerDelivery>(api, '/api/deliveries', line, { status, endpoint, run });
  output.document(page);
  const rows = page.items.map((delivery) => [
    delivery.id,
    timeOf(delivery.created_at),
    delivery.status,
    String(delivery.tries_count),
    lastAnswer(delivery),
    delivery.event,
    delivery.run_id,
    delivery.endpoint_id ?? delivery.url ?? '',
  ]);
  const titles = ['ID', 'MADE', 'STATUS', 'TRIES', 'LAST', 'EVENT', 'RUN', 'TO'];
  output.result(table(titles, rows, tableWidth(output)).join('\n'));
  const isFiltered = [status, endpoint, run].some((filter) => filter !== undefined);
  if (rows.length === 0) output.note(isFiltered ? 'There are no such deliveries.' : 'Nothing has been sent yet.');
  noteMore(page, output);
  return EXIT.done;
}

function lastAnswer({ tries }: ServerDelivery): string {
  const last = tries.at(-1);
  return last === undefined ? '-' : (last.error ?? String(last.status ?? '-'));
}

async function resend(line: CommandLine, context: CommandContext, ids: readonly string[]): Promise<ExitCode> {
  const { output } = context;
  const [status, endpoint] = [line.text('status'), line.text('endpoint')];
  if ((ids.length === 0) === (status === undefined) || (ids.length > 0 && endpoint !== undefined))
    throw new UsageError(
      'endpoints resend needs DELIVERY_IDs, or --status',
      'methods endpoints resend --status exhausted',
    );
  const unknown = ids.find((id) => !isId('dlv', id));
  if (unknown !== undefined)
    throw new UsageError(
      'a delivery is named by its id, dlv_ and 26 letters and digits',
      'methods endpoints deliveries',
    );
  const api = await openServer(line, context);
  const asked = ids.length > 0 ? { ids } : { status, ...(endpoint === undefined ? {} : { endpoint }) };
  const resent: string[] = [];
  let cursor: string | null = null;
  do {
    const body: object = cursor === null ? asked : { ...asked, cursor };
    // A pending delivery is not changed, so a repeat is harmless.
    const { value } = await api.send<Resent>('POST', '/api/deliveries/resend', body, { idempotent: true });
    resent.push(...value.ids);
    cursor = value.next_cursor;
  } while (cursor !== null && !context.interrupted.aborted);
  output.document({ ids: resent });
  output.result(resent.length === 1 ? '1 delivery is sent again' : `${resent.length} deliveries are sent again`);
  return EXIT.done;
}
