// The methods that an organization offers to agents, as separate tools: `run_<method name>`. A call starts a run with
// the caller as its starter.
import { ServiceError } from '@methods/errors/service-error';
import type { OfferedMethod } from '@methods/proto/registry/v1/method_pb';
import { type TObject, Type } from 'typebox';
import { StartRunBody } from '../routes/runs/run-schemas.ts';
import { AgentRun } from './run-outcome.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';
import { quotedName } from './tool-results.ts';
import { startedOutcome, waitMs } from './tools/run-tools.ts';

const NAME_CHARACTERS_MAX = 64;
const DESCRIPTION_CHARACTERS_MAX = 500;
const ID_SUFFIX = 6;
/** A client that sets no wait gets the result of a short run at once. */
const WAIT_MS = 20_000;
/** The key's place if an input of the method has its name. */
const KEY_IN_META = 'methods/idempotency_key';
/** As StartRunBody has them for the field. */
const KEY_CHARACTERS_MIN = 8;
const KEY_CHARACTERS_MAX = 200;

const EXTRAS = {
  idempotency_key: StartRunBody.properties.idempotency_key,
  wait_ms: Type.Optional(waitMs(WAIT_MS)),
};
type ExtraName = keyof typeof EXTRAS;

/** Makes a repeated call with the same methods cheap. */
const made = new WeakMap<readonly OfferedMethod[], readonly Tool[]>();

/** @param taken names that no offered method may get */
export function offeredTools(methods: readonly OfferedMethod[], taken: ReadonlySet<string>): readonly Tool[] {
  const known = made.get(methods);
  if (known !== undefined) return known;
  const wanted = methods.map((offered) => nameOf(offered));
  const tools = methods.flatMap((offered, i) => {
    const name = wanted[i] ?? '';
    const isTaken = taken.has(name) || wanted.some((other, j) => other === name && i !== j);
    const schemas = schemasOf(offered);
    return schemas === null ? [] : [offeredTool(offered, isTaken ? withId(name, offered) : name, schemas)];
  });
  made.set(methods, tools);
  return tools;
}

function nameOf({ name }: OfferedMethod): string {
  return `run_${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, NAME_CHARACTERS_MAX);
}

function withId(name: string, { method }: OfferedMethod): string {
  return `${name.slice(0, NAME_CHARACTERS_MAX - ID_SUFFIX - 1)}_${method?.methodId.slice(-ID_SUFFIX)}`;
}

interface MethodSchemas {
  readonly input: TObject;
  /** Our own arguments whose names no input of the method uses: the start checks all others. */
  readonly extras: TObject<Partial<typeof EXTRAS>>;
  readonly output: TObject;
}

function schemasOf({ inputSchemaJson, resultSchemaJson }: OfferedMethod): MethodSchemas | null {
  try {
    const { properties = {}, ...rest } = JSON.parse(inputSchemaJson || '{"type":"object"}');
    const names = (Object.keys(EXTRAS) as ExtraName[]).filter((name) => !Object.hasOwn(properties, name));
    const extras = Type.Object(Object.fromEntries(names.map((name) => [name, EXTRAS[name]])));
    const result = Type.Optional(Type.Unsafe(JSON.parse(resultSchemaJson || '{}', withoutPatterns)));
    return {
      input: { ...rest, type: 'object', properties: { ...properties, ...extras.properties } },
      extras,
      output: Type.Object({ ...AgentRun.properties, result }),
    };
  } catch {
    return null;
  }
}

/** Clients compile output schemas, and fail the whole list at a pattern (RE2) that is none of JavaScript. */
function withoutPatterns(key: string, value: unknown): unknown {
  return typeof value === 'string' && (key === 'pattern' || key === '$schema') ? undefined : value;
}

function offeredTool(offered: OfferedMethod, name: string, { input, extras, output }: MethodSchemas): Tool {
  const { method, description } = offered;
  const methodId = method?.methodId ?? '';
  const about =
    description === '' ? '' : ` Its authors describe it as ${quotedName(description, DESCRIPTION_CHARACTERS_MAX)}.`;
  const isOurs = (field: string) => Object.hasOwn(extras.properties, field);
  const key = isOurs('idempotency_key') ? 'idempotency_key' : `"${KEY_IN_META}" in _meta`;
  const over = isOurs('wait_ms') ? 'wait_ms is over' : `${WAIT_MS / 1_000} seconds are over`;
  return tool({
    name,
    title: `Run ${quotedName(method?.displayName || offered.name)}`,
    description:
      `Starts a run of the method wf_${methodId} of this organization, ${quotedName(offered.name)}, with real effects, ` +
      `and replies with the run when it finishes or waits for an answer, or when ${over}: then poll with get_run. ` +
      `Repeat a lost call with the same ${key}.${about}`,
    access: 'member',
    input,
    output,
    hints: { readOnly: false, destructive: true },
    checks: extras,
    async call(args: Record<string, unknown>, call) {
      const inputs = Object.fromEntries(Object.entries(args).filter(([field]) => !isOurs(field)));
      const given = isOurs('idempotency_key') ? args.idempotency_key : keyInMeta(call);
      const wait = isOurs('wait_ms') ? args.wait_ms : undefined;
      const body = { method: methodId, inputs, ...(typeof given === 'string' && { idempotency_key: given }) };
      return startedOutcome(call, body, typeof wait === 'number' ? wait : WAIT_MS);
    },
  });
}

/** @throws invalid_request: a key that is silently ignored would start a second run. */
function keyInMeta({ exchange }: ToolCall): string | undefined {
  const key = exchange.mcpReq._meta?.[KEY_IN_META];
  if (key === undefined) return undefined;
  const length = typeof key === 'string' ? [...key.slice(0, 2 * KEY_CHARACTERS_MAX + 1)].length : 0;
  if (typeof key === 'string' && length >= KEY_CHARACTERS_MIN && length <= KEY_CHARACTERS_MAX) return key;
  const message = `"${KEY_IN_META}" in _meta is a text of ${KEY_CHARACTERS_MIN} to ${KEY_CHARACTERS_MAX} characters.`;
  const path = `/_meta/${KEY_IN_META.replace('/', '~1')}`;
  throw new ServiceError('invalid_request', message, { findings: [{ path, code: 'idempotency_key_length', message }] });
}
