// Asks the user of a client for the answer to a run's question, through the client (elicitation). The server stores
// nothing meanwhile: the question comes back with the answer, signed, and counts only for the same person, question and
// time.
import { createHash, randomBytes } from 'node:crypto';
import { callerId } from '@methods/auth/caller';
import type { QuestionId, RunId } from '@methods/base/ids';
import type { Secret } from '@methods/config/environment';
import { ServiceError } from '@methods/errors/service-error';
import type { Logger } from '@methods/logging/logger';
import { AnswerChannel, type Question, type RunView } from '@methods/proto/run/v1/run_pb';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  type RequestStateCodec,
} from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../plugins/caller.ts';
import { actorOf } from '../plugins/request-actor.ts';
import { answerFacts, runChanged } from '../routes/runs/run-acts.ts';
import { waitingCaller } from '../routes/runs/run-reply.ts';
import { answerPage } from './run-outcome.ts';
import type { ToolCall } from './tool.ts';
import { quotedName } from './tool-results.ts';

export interface Asked {
  readonly runId: RunId;
  readonly questionId: QuestionId;
  /** Whether to wait for the run afterwards. */
  readonly waitMs: number;
}

/** How long a person may take to fill in a form. */
const ASKED_S = 3_600;
const PROMPT_CHARACTERS_MAX = 1_500;
const ANSWER = 'answer';
const NO_STATE_KEY =
  'MCP_STATE_KEY is not set: what the users of MCP clients are asked is lost when this gateway restarts, and other gateways refuse it';

export function askedCodec(request: FastifyRequest, key: Buffer): RequestStateCodec<Asked> {
  const caller = callerOf(request);
  return createRequestStateCodec<Asked>({
    key,
    ttlSeconds: ASKED_S,
    bind: () => `${caller.orgId} ${callerId(caller)}`,
  });
}

/** Without a secret it is a key that only this process knows. */
export function stateKey(
  { mcpUrl, mcpStateKey }: { readonly mcpUrl: string | null; readonly mcpStateKey: Secret | null },
  logger: Logger,
): Buffer {
  if (mcpStateKey !== null) return createHash('sha256').update(mcpStateKey.reveal(), 'utf8').digest();
  if (mcpUrl !== null) logger.warn({}, NO_STATE_KEY);
  return randomBytes(32);
}

/** Returns null if the client cannot ask its user this. */
export async function askUser(call: ToolCall, run: RunView, waitMs = 0): Promise<InputRequiredResult | null> {
  const { question } = run;
  const form = question === undefined ? null : elicitedForm(question.formJson);
  if (question === undefined || form === null || !elicits(call)) return null;
  const message =
    `The run ${run.runId} asks (text of the method, not of this server): ` +
    `${quotedName(question.prompt, PROMPT_CHARACTERS_MAX)} Values it shows: ${answerPage(call.parts, run)}`;
  const state: Asked = { runId: run.runId, questionId: question.id, waitMs };
  return inputRequired({
    inputRequests: { [ANSWER]: inputRequired.elicit({ message, requestedSchema: form }) },
    requestState: await askedCodec(call.request, call.parts.mcpStateKey).mint(state, call.exchange),
  });
}

/** Returns what the user was asked, if this call brings the reply. */
export function askedBefore({ exchange }: ToolCall): Asked | null {
  const asked = exchange.mcpReq.requestState<Asked>();
  return typeof asked === 'object' && asked !== null ? asked : null;
}

/** Returns the run once the user's answer counts. @throws forbidden if the user gave none */
export async function answeredByUser(call: ToolCall, { runId, questionId }: Asked): Promise<RunView> {
  const response = call.exchange.mcpReq.inputResponses?.[ANSWER] as { action?: unknown; content?: unknown } | undefined;
  if (response?.action !== 'accept' || typeof response.content !== 'object' || response.content === null) {
    const message = 'The user did not answer the question; it stays open. Do not ask again unless the user wants it.';
    throw new ServiceError('forbidden', message);
  }
  return givenAnswer(call, { runId, questionId, answer: response.content, comment: '' });
}

export interface GivenAnswer {
  readonly runId: RunId;
  readonly questionId: QuestionId;
  readonly answer: object;
  readonly comment: string;
}

/** Returns the run after the answer. @throws ServiceError if the answer is refused */
export function givenAnswer(call: ToolCall, { runId, questionId, answer, comment }: GivenAnswer): Promise<RunView> {
  const { request, reply, parts, orgId } = call;
  const channel = AnswerChannel.MCP;
  return parts.scheduler.answerRun(
    { orgId, runId, requestId: request.id },
    { questionId, answerJson: JSON.stringify(answer), actor: actorOf(request), channel, comment },
    {
      wait: null,
      caller: waitingCaller(reply),
      answered: (run) =>
        runChanged(request, parts, 'run.answer', {
          targetId: run.runId,
          facts: answerFacts(run, questionId, channel),
        }),
    },
  );
}

/** Reports whether the question names people: then an agent may not answer it for them. */
export function asksPeople({ policy }: Question): boolean {
  return policy !== undefined && (policy.to.length > 0 || policy.notStarter || policy.needs > 0);
}

function elicits({ exchange }: ToolCall): boolean {
  const envelope = exchange.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const elicitation = capabilities?.elicitation;
  // `{}` means forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

type Form = ElicitRequestFormParams['requestedSchema'];
const KEPT = ['title', 'description', 'minLength', 'maxLength', 'minimum', 'maximum', 'default'] as const;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);
const FORMATS: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time']);

/** Returns null for a form that clients cannot show: they show only flat forms of simple fields. */
function elicitedForm(formJson: string): Form | null {
  const { properties = {}, required = [] } = JSON.parse(formJson || '{}') as {
    properties?: Record<string, Field>;
    required?: string[];
  };
  const fields = Object.entries(properties).map(([name, field]) => [name, shownField(field)] as const);
  if (fields.length === 0 || fields.some(([, field]) => field === null)) return null;
  return { type: 'object', properties: Object.fromEntries(fields), required } as unknown as Form;
}

type Field = Readonly<Record<string, unknown>>;

function shownField(field: Field): object | null {
  const kept = Object.fromEntries(KEPT.filter((key) => field[key] !== undefined).map((key) => [key, field[key]]));
  const { type, format, items } = field;
  if (areTexts(field.enum)) return { ...kept, type: 'string', enum: field.enum };
  const choices = type === 'array' ? (items as Field | undefined)?.enum : undefined;
  if (areTexts(choices)) return { ...kept, type, items: { type: 'string', enum: choices } };
  if (!TYPES.has(type) || field.enum !== undefined) return null;
  return { ...kept, type, ...(FORMATS.has(format) && { format }) };
}

function areTexts(values: unknown): values is readonly string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}
