// The protocol server of one request: it lists the tools for the caller's role and calls them. A refusal is logged by
// its code, like that of any route.
import { mayUse } from '@methods/auth/caller';
import { asServiceError, ServiceError } from '@methods/errors/service-error';
import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallerRefused } from '../callers/caller-refused.ts';
import { callerOf } from '../plugins/caller.ts';
import { type SchemaFault, schemaFinding } from '../plugins/schema-fault.ts';
import { askedCodec } from './asked-user.ts';
import { addMethodResources } from './method-resources.ts';
import { offeredTools } from './offered-tools.ts';
import type { McpParts, Tool, ToolCall } from './tool.ts';
import { DATA_NOTE, listedTool, refusedResult, toolResult } from './tool-results.ts';
import { ALL_TOOLS, TOOL_NAMES, toolNamed } from './tools/all-tools.ts';

/** The version of the interface that the tools form. */
const SERVER_VERSION = '5.2';

const INSTRUCTIONS =
  'Methods keeps procedures ("methods", earlier "workflows") as versioned source text and runs them on workers: each ' +
  'run uses one saved version, keeps what every step did, and may stop to ask a person. Read a method before you run ' +
  'or change it. Start a run only when the user wants its effects. ' +
  DATA_NOTE;

/** The transport of one server's messages. */
export interface McpRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly parts: McpParts;
}

export function protocolServer(carrier: McpRequest): Server {
  const { request, parts } = carrier;
  const caller = callerOf(request);
  const server = new Server(
    { name: 'methods', title: 'Methods', version: SERVER_VERSION },
    {
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true }, prompts: {} },
      instructions: INSTRUCTIONS,
      requestState: { verify: (state, exchange) => askedCodec(request, parts.mcpStateKey).verify(state, exchange) },
    },
  );
  server.setRequestHandler('tools/list', async () => {
    const tools = [...ALL_TOOLS, ...(await offered(carrier))];
    return { tools: tools.filter(({ access }) => mayUse(caller, access)).map(listedTool) };
  });
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, exchange) => {
    const tool = toolNamed(name) ?? (await offered(carrier)).find((each) => each.name === name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool.');
    return calledTool(tool, args, carrier, exchange);
  });
  addMethodResources(server, request, parts);
  return server;
}

/** Without the registry only the built-in tools are listed. */
async function offered({ request, parts }: McpRequest): Promise<readonly Tool[]> {
  try {
    return offeredTools(await parts.offeredMethods.of(callerOf(request).orgId), TOOL_NAMES);
  } catch {
    return [];
  }
}

async function calledTool(
  tool: Tool,
  args: Record<string, unknown>,
  { request, reply, parts }: McpRequest,
  exchange: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  request.tool = tool.name;
  try {
    const caller = callerOf(request);
    if (caller.kind !== 'user' || !mayUse(caller, tool.access)) {
      request.refusal = 'role';
      throw new CallerRefused('role', `This tool needs the role ${tool.access}. Ask an admin of your organization.`);
    }
    checkArguments(request, tool, args);
    const call: ToolCall = { parts, orgId: caller.orgId, role: caller.role, request, reply, exchange };
    const outcome = await tool.call(args, call);
    return isInputRequiredResult(outcome) ? outcome : toolResult(outcome);
  } catch (error) {
    const refused = asServiceError(error);
    request.errorCode = refused.code;
    if (refused.code === 'internal') {
      parts.logger.error({ request_id: request.id, tool: tool.name, error: refused.cause ?? error }, 'a tool failed');
    }
    return refusedResult(refused, request.id);
  }
}

/** @throws invalid_request that names the argument */
function checkArguments(request: FastifyRequest, { input, checks = input }: Tool, args: Record<string, unknown>): void {
  const check = request.getValidationFunction(checks) ?? request.compileValidationSchema(checks);
  if (check(args)) return;
  const fault = check.errors?.[0];
  if (fault === undefined) throw new ServiceError('invalid_request');
  const finding = schemaFinding(fault as SchemaFault, 'arguments');
  throw new ServiceError('invalid_request', finding.message, { findings: [finding] });
}
