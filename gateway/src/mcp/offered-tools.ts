// The methods that an organization offers to agents, as separate tools: `run_<method name>`. A call starts a run with
// the caller as its starter.
import type { OfferedMethod } from '@methods/proto/registry/v1/method_pb';
import { type TObject, Type } from 'typebox';
import { StartRunBody } from '../routes/runs/run-schemas.ts';
import { quotedName } from './marked-data.ts';
import { AgentRun } from './run-outcome.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';
import { startedOutcome, WaitMs } from './tools/run-tools.ts';

const NAME_CHARACTERS_MAX = 64;
const DESCRIPTION_CHARACTERS_MAX = 500;
const ID_SUFFIX = 6;
/** A client that sets no wait gets the result of a short run at once. */
const WAIT_MS = 20_000;
/** The key's place if an input of the method has its name. */
const KEY_IN_META = 'methods/idempotency_key';

const EXTRAS = { idempotency_key: StartRunBody.properties.idempotency_key, wait_ms: WaitMs };
const Extras = Type.Object(EXTRAS);
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
    const schema = inputSchema(offered);
    return schema === null ? [] : [offeredTool(offered, isTaken ? withId(name, offered) : name, schema)];
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

interface MethodSchema {
  readonly schema: TObject;
  /** Our own arguments whose names no input of the method uses. */
  readonly extras: readonly ExtraName[];
}

function inputSchema({ inputSchemaJson }: OfferedMethod): MethodSchema | null {
  try {
    const { properties = {}, ...rest } = JSON.parse(inputSchemaJson || '{"type":"object"}');
    const extras = (Object.keys(EXTRAS) as ExtraName[]).filter((name) => !Object.hasOwn(properties, name));
    const ours = Object.fromEntries(extras.map((name) => [name, EXTRAS[name]]));
    return { schema: { ...rest, type: 'object', properties: { ...properties, ...ours } }, extras };
  } catch {
    return null;
  }
}

function offeredTool(offered: OfferedMethod, name: string, { schema, extras }: MethodSchema): Tool {
  const { method, description } = offered;
  const methodId = method?.methodId ?? '';
  const about =
    description === '' ? '' : ` Its authors describe it as ${quotedName(description, DESCRIPTION_CHARACTERS_MAX)}.`;
  return tool({
    name,
    title: `Run ${quotedName(method?.displayName || offered.name)}`,
    description:
      `Starts a run of the method wf_${methodId} of this organization, ${quotedName(offered.name)}, with real effects, ` +
      `and replies with the run when it finishes or waits for an answer, or when wait_ms is over: then poll with get_run. ` +
      `Repeat a lost call with the same idempotency_key.${about}`,
    access: 'member',
    input: schema,
    output: AgentRun,
    hints: { readOnly: false, destructive: true },
    checks: Extras,
    async call(args: Record<string, unknown>, call) {
      const inputs = Object.fromEntries(
        Object.entries(args).filter(([field]) => !(extras as readonly string[]).includes(field)),
      );
      const key = extras.includes('idempotency_key') ? args.idempotency_key : keyInMeta(call);
      const waitMs = extras.includes('wait_ms') ? args.wait_ms : undefined;
      const body = { method: methodId, inputs, ...(typeof key === 'string' && { idempotency_key: key }) };
      return startedOutcome(call, body, typeof waitMs === 'number' ? waitMs : WAIT_MS);
    },
  });
}

function keyInMeta({ exchange }: ToolCall): unknown {
  return exchange.mcpReq._meta?.[KEY_IN_META];
}
