// The headers of an HTTP request that repeat parts of its message, so that proxies need not parse it. In the 2026-07-28
// era each message names its version; before that, the version and the session are those of the first exchange.
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
/** The field of the parameters that `Mcp-Name` repeats. */
const NAME_FIELDS: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
const PLAIN = /^(?! )[\x20-\x7e]*(?<! )$/;
const ENCODED = /^=\?base64\?.*\?=$/;

export interface Conversation {
  version: string | null;
  sessionId: string | null;
}

export function messageHeaders(
  message: Readonly<Record<string, unknown>>,
  earlier: Conversation,
): Record<string, string> {
  const { method, params } = message;
  const { _meta: meta, ...fields } = objectOf(params);
  const version = objectOf(meta)[VERSION_KEY];
  if (typeof version === 'string' && typeof method === 'string') {
    const field = Object.hasOwn(NAME_FIELDS, method) ? NAME_FIELDS[method] : undefined;
    const name = field === undefined ? undefined : fields[field];
    return {
      'mcp-protocol-version': headerText(version),
      'mcp-method': headerText(method),
      ...(typeof name === 'string' ? { 'mcp-name': headerText(name) } : {}),
    };
  }
  return {
    ...(earlier.version === null ? {} : { 'mcp-protocol-version': headerText(earlier.version) }),
    ...(earlier.sessionId === null ? {} : { 'mcp-session-id': earlier.sessionId }),
  };
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function headerText(text: string): string {
  const isPlain = PLAIN.test(text) && !ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
