// An agent for tests: sends messages to /mcp one after another, as a client of either era would, and reads the replies,
// a body or events.
import assert from 'node:assert/strict';
import { Compile } from 'typebox/schema';
import { listedTool } from '../mcp/tool-results.ts';
import { toolNamed } from '../mcp/tools/all-tools.ts';

export type Era = '2026-07-28' | '2025-11-25';

export interface McpReply {
  readonly status: number;
  readonly headers: Headers;
  /** Every message of the reply, in their order. */
  // biome-ignore lint/suspicious/noExplicitAny: replies are compared, not used
  readonly messages: readonly any[];
  /** The result of the request, or its error. */
  // biome-ignore lint/suspicious/noExplicitAny: replies are compared, not used
  readonly last: any;
}

export interface AgentOptions {
  readonly url: string;
  readonly token: string | null;
  readonly era?: Era;
  readonly capabilities?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export const AGENT = { name: 'test-agent', version: '1.2.3' };
const META = 'io.modelcontextprotocol/';

export class McpAgent {
  private nextId = 1;

  constructor(private readonly options: AgentOptions) {}

  /** The params of a request with what the era puts into them. */
  params(params: Readonly<Record<string, unknown>> = {}): object {
    if (this.era === '2025-11-25') return params;
    const _meta = {
      [`${META}protocolVersion`]: this.era,
      [`${META}clientInfo`]: AGENT,
      [`${META}clientCapabilities`]: this.options.capabilities ?? {},
      ...(params._meta as object | undefined),
    };
    return { ...params, _meta };
  }

  async request(
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
    signal: AbortSignal | null = null,
  ): Promise<McpReply> {
    const message = { jsonrpc: '2.0', id: this.nextId++, method, params: this.params(params) };
    return this.send(JSON.stringify(message), { ...this.headersOf(method, params), ...headers }, signal);
  }

  /** The outcome of a tool: `isError`, `structuredContent` and the text. */
  async call(name: string, args: object = {}, params: Readonly<Record<string, unknown>> = {}) {
    const { status, last } = await this.request('tools/call', { name, arguments: args, ...params });
    assert.equal(status, 200, JSON.stringify(last));
    assert.ok(last.result, JSON.stringify(last));
    const { isError = false, structuredContent: data, content } = last.result;
    if (data !== undefined) assertAsListed(name, data);
    return { isError, data, text: content?.[0]?.text as string, result: last.result };
  }

  /** Returns a result that is not a refusal. */
  async done(name: string, args: object = {}, params: Readonly<Record<string, unknown>> = {}) {
    const outcome = await this.call(name, args, params);
    assert.equal(outcome.isError, false, outcome.text);
    return outcome;
  }

  /** Returns a reply that stays open, once its first event has arrived. */
  async stream(method: string, params: Readonly<Record<string, unknown>>) {
    const gone = new AbortController();
    const message = { jsonrpc: '2.0', id: this.nextId++, method, params: this.params(params) };
    const response = await this.post(JSON.stringify(message), this.headersOf(method, params), gone.signal);
    assert.equal(response.status, 200, await (response.ok ? '' : response.text()));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = Buffer.from((await reader.read()).value ?? []).toString();
    const reading = (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        text += Buffer.from(value).toString();
      }
    })().catch(() => {});
    return {
      text: () => text,
      /** Resolves when the server ends it. */
      ended: reading,
      async end() {
        gone.abort();
        await reading;
      },
    };
  }

  async send(
    body: string | null,
    headers: Readonly<Record<string, string>> = {},
    signal: AbortSignal | null = null,
  ): Promise<McpReply> {
    const response = await this.post(body, headers, signal);
    const text = await response.text();
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const messages = isStream ? eventsOf(text) : text === '' ? [] : [JSON.parse(text)];
    return { status: response.status, headers: response.headers, messages, last: messages.at(-1) };
  }

  private post(
    body: string | null,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | null,
  ): Promise<Response> {
    const { url, token } = this.options;
    return fetch(url, {
      method: 'POST',
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...this.options.headers,
        ...headers,
      },
      body,
      signal,
    });
  }

  private get era(): Era {
    return this.options.era ?? '2026-07-28';
  }

  private headersOf(method: string, params: Readonly<Record<string, unknown>>): Record<string, string> {
    if (this.era === '2025-11-25') return method === 'initialize' ? {} : { 'mcp-protocol-version': this.era };
    const name = params.name ?? params.uri;
    return {
      'mcp-protocol-version': this.era,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    };
  }
}

const listed = new Map<string, ReturnType<typeof Compile>>();

/** The outcome is as the tool's output schema says. Strict clients refuse any other. */
function assertAsListed(name: string, data: object): void {
  const tool = toolNamed(name);
  if (tool === undefined) return;
  const schema = listed.get(name) ?? Compile(listedTool(tool).outputSchema as object);
  listed.set(name, schema);
  if (!schema.Check(data))
    assert.fail(`${name} replied ${JSON.stringify(data)}: ${JSON.stringify(schema.Errors(data))}`);
}

function eventsOf(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}
