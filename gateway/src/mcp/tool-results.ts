// Converts a tool's outcome and refusals to the protocol: a text to read, the same as structured content, and for a
// refusal the code, the message and the findings of the HTTP interface.
import { errorBody } from '@methods/errors/error-body';
import type { ServiceError } from '@methods/errors/service-error';
import type { CallToolResult, JSONObject, Tool as ListedTool } from '@modelcontextprotocol/server';
import type { TObject } from 'typebox';
import { Refused } from '../routes/reply-schemas.ts';
import { markedData } from './marked-data.ts';
import type { Tool, ToolOutcome } from './tool.ts';

export function toolResult({ summary, data, text }: ToolOutcome): CallToolResult {
  const shown = text ?? JSON.stringify(data);
  return {
    content: [{ type: 'text', text: `${summary}\n\n${markedData(shown)}` }],
    structuredContent: data as JSONObject,
  };
}

/** A refusal is a result too: the agent reads the reason and may try again. */
export function refusedResult(error: ServiceError, requestId: string): CallToolResult {
  const { body, headers } = errorBody(error, requestId);
  const { error: code, message = '', request_id: _id, ...facts } = body as Record<string, unknown>;
  const again = headers['retry-after'];
  const when = again === undefined ? '' : ` Repeat the call after ${again} s.`;
  // Many clients show their agent only the text.
  const more = Object.keys(facts).length === 0 ? '' : `\n\n${markedData(JSON.stringify(facts))}`;
  return {
    isError: true,
    content: [{ type: 'text', text: `Refused (${code}): ${message}${when}${more}` }],
    structuredContent: body as JSONObject,
  };
}

const listed = new WeakMap<Tool, ListedTool>();

/** As `tools/list` shows it. */
export function listedTool(tool: Tool): ListedTool {
  const known = listed.get(tool);
  if (known !== undefined) return known;
  const { name, title, description, hints } = tool;
  const shown: ListedTool = {
    name,
    title,
    description,
    inputSchema: tool.input as unknown as ListedTool['inputSchema'],
    outputSchema: outputSchema(tool.output),
    annotations: {
      title,
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive ?? false,
      idempotentHint: hints.idempotent ?? hints.readOnly,
      openWorldHint: false,
    },
  };
  listed.set(tool, shown);
  return shown;
}

/** Some clients also check the structured content of refusals, so the schema allows both. */
function outputSchema(output: TObject): NonNullable<ListedTool['outputSchema']> {
  const { required = [], properties } = output as { required?: string[]; properties: Record<string, object> };
  // A run's `error` is an object, a refusal's its code.
  const either = Object.entries(Refused.properties).map(([name, ofRefusal]) => {
    const own = properties[name];
    return [name, own === undefined ? ofRefusal : { anyOf: [own, ofRefusal] }] as const;
  });
  const schema = {
    type: 'object',
    properties: { ...properties, ...Object.fromEntries(either) },
    anyOf: [{ required }, { required: ['error', 'message'] }],
  };
  return schema as unknown as NonNullable<ListedTool['outputSchema']>;
}
