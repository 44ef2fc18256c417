// Carries MCP messages between a client that starts a program and uses its standard input and output, and a server that
// uses HTTP and tokens. The bridge reads only the parts of a message that it needs: both eras of the protocol pass, and
// later ones.
import type { Readable } from 'node:stream';
import { readEvents } from '@methods/api/event-stream';
import { CommandError } from '../errors/command-error.ts';
import { readJson, requestServer } from '../server/server-request.ts';
import type { AgentServers } from './agent-server.ts';
import { type Conversation, messageHeaders, objectOf } from './message-headers.ts';
import { type Line, LineWriter, readLines } from './message-lines.ts';

export interface BridgeOptions {
  readonly servers: AgentServers;
  readonly input: Readable;
  readonly output: NodeJS.WritableStream;
  /** The program should end. */
  readonly interrupted: AbortSignal;
  readonly bounds?: Partial<Bounds>;
}

interface Bounds {
  /** For a message of the client; those of a server are bounded where they are read. */
  readonly messageBytesMax: number;
  readonly underWayMax: number;
  /** A server that sends nothing for this long is given up. */
  readonly silentMsMax: number;
  /** For the requests in progress when the client ends its input. */
  readonly lastMsMax: number;
}

const BOUNDS: Bounds = { messageBytesMax: 8 * 1024 * 1024, underWayMax: 256, silentMsMax: 120_000, lastMsMax: 30_000 };
const MAY_BE_SILENT = 'subscriptions/listen';
const INVALID_REQUEST = -32_600;
const PARSE_ERROR = -32_700;
/** From the range for implementations. */
const BRIDGE_ERROR = -32_000;

type Message = Readonly<Record<string, unknown>>;
type RequestId = string | number;

export class McpBridge {
  private readonly bounds: Bounds;
  private readonly writer: LineWriter;
  private readonly conversation: Conversation = { version: null, sessionId: null };
  private readonly underWay = new Map<RequestId, AbortController>();
  private readonly listening = new Set<AbortController>();
  private readonly ending = new AbortController();
  private readonly tasks = new Set<Promise<void>>();

  constructor(private readonly options: BridgeOptions) {
    this.bounds = { ...BOUNDS, ...options.bounds };
    this.writer = new LineWriter(options.output);
  }

  /** Runs until the client ends its input, and the requests in progress have their replies. */
  async run(): Promise<void> {
    const { input, interrupted } = this.options;
    const stop = () => {
      this.ending.abort();
      input.destroy();
    };
    interrupted.addEventListener('abort', stop);
    try {
      try {
        for await (const line of readLines(input, this.bounds.messageBytesMax)) await this.take(line);
      } catch (error) {
        if (!interrupted.aborted) throw error;
      }
      for (const listening of this.listening) listening.abort();
      const last = setTimeout(stop, this.bounds.lastMsMax);
      await Promise.all(this.tasks);
      clearTimeout(last);
    } finally {
      interrupted.removeEventListener('abort', stop);
      stop();
    }
  }

  private async take(line: Line): Promise<void> {
    if (line.kind === 'too_long') {
      return this.refuse(null, INVALID_REQUEST, `A message has at most ${this.bounds.messageBytesMax} bytes.`);
    }
    if (line.text === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line.text);
    } catch {
      return this.refuse(null, PARSE_ERROR, 'A message is one line of JSON.');
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      return this.refuse(null, INVALID_REQUEST, 'A message is one object.');
    }
    this.cancelled(message as Message);
    const id = requestIdOf(message as Message);
    if (id !== null && this.underWay.has(id)) {
      return this.refuse(id, INVALID_REQUEST, 'A request with this id is under way.');
    }
    if (this.tasks.size >= this.bounds.underWayMax) {
      return this.refuse(id, BRIDGE_ERROR, `At most ${this.bounds.underWayMax} messages are under way at a time.`);
    }
    const task = this.carry(message as Message, id);
    this.tasks.add(task);
    void task.finally(() => this.tasks.delete(task));
  }

  /** A closed connection is how HTTP cancels; the notification is sent to the server too. */
  private cancelled({ method, params }: Message): void {
    if (method !== 'notifications/cancelled') return;
    const { requestId } = objectOf(params);
    if (typeof requestId === 'string' || typeof requestId === 'number') this.underWay.get(requestId)?.abort();
  }

  private async carry(message: Message, id: RequestId | null): Promise<void> {
    const cancel = new AbortController();
    if (id !== null) this.underWay.set(id, cancel);
    const isListening = message.method === MAY_BE_SILENT;
    if (isListening) this.listening.add(cancel);
    const silence = new Silence(isListening ? null : this.bounds.silentMsMax);
    const signal = AbortSignal.any([cancel.signal, this.ending.signal, silence.signal]);
    try {
      const answered = await this.exchange(message, id, signal, silence);
      if (id === null || answered || cancel.signal.aborted) return;
      await this.refuse(id, BRIDGE_ERROR, 'The server ended its reply before the result.');
    } catch (error) {
      this.options.servers.failed(error);
      // A client that cancelled, or has disconnected, waits for nothing. A notification has no reply.
      if (id === null || cancel.signal.aborted || this.ending.signal.aborted) return;
      await this.refuse(id, BRIDGE_ERROR, silence.signal.aborted ? this.silentWords() : wordsOf(error));
    } finally {
      silence.end();
      if (id !== null) this.underWay.delete(id);
      this.listening.delete(cancel);
    }
  }

  /** Returns true once the request of this id has its reply. */
  private async exchange(
    message: Message,
    id: RequestId | null,
    signal: AbortSignal,
    silence: Silence,
  ): Promise<boolean> {
    const response = await this.send(message, signal);
    silence.heard();
    if (message.method === 'initialize') this.conversation.sessionId = response.headers.get('mcp-session-id');
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      return this.passEvents(response, message, id, silence);
    }
    const text = response.headers.get('content-type')?.includes('json') ? await readJson(response) : undefined;
    if (id === null) return true;
    const reply = objectOf(text);
    if (isJsonRpcReply(reply)) {
      // A refusal before the message was read does not have its id.
      await this.pass(message, 'error' in reply && reply.id === null ? { ...reply, id } : reply);
      return true;
    }
    throw new CommandError('bad_reply', refusalWords(response.status, reply));
  }

  private async passEvents(
    response: Response,
    message: Message,
    id: RequestId | null,
    silence: Silence,
  ): Promise<boolean> {
    let answered = false;
    const chunks = heardChunks(response.body, silence);
    const tooLarge = (message: string) => new CommandError('too_large', message);
    for await (const { data } of readEvents(chunks, tooLarge)) {
      // An event without data only keeps the connection open.
      if (data.trim() === '') continue;
      const event = objectOf(JSON.parse(data));
      answered ||= id !== null && event.id === id && ('result' in event || 'error' in event);
      await this.pass(message, event);
    }
    return answered;
  }

  private pass(request: Message, reply: Message): Promise<void> {
    if (request.method === 'initialize') {
      const { protocolVersion } = objectOf(reply.result);
      if (typeof protocolVersion === 'string') this.conversation.version = protocolVersion;
    }
    return this.writer.write(reply);
  }

  private async send(message: Message, signal: AbortSignal): Promise<Response> {
    const { url, credential } = await this.options.servers.current(signal);
    for (let isAgain = false; ; isAgain = true) {
      const bearer = await credential.bearer(signal);
      const response = await requestServer(url, '', {
        verb: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          ...messageHeaders(message, this.conversation),
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        },
        body: message,
        signal,
        timeMs: null,
      });
      if (response.status !== 401) return response;
      await response.body?.cancel();
      if (isAgain || !(await credential.renew(signal, bearer))) {
        throw new CommandError('unauthorized', 'the server does not accept the sign-in', { hint: 'methods mcp login' });
      }
    }
  }

  private silentWords(): string {
    return `The server sent nothing for ${Math.round(this.bounds.silentMsMax / 1_000)} seconds: it may have done what was asked.`;
  }

  private async refuse(id: RequestId | null, code: number, message: string): Promise<void> {
    await this.writer.write({ jsonrpc: '2.0', id, error: { code, message } });
  }
}

/** Aborts when nothing arrives for a time. */
class Silence {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly msMax: number | null) {
    this.heard();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  heard(): void {
    clearTimeout(this.timer);
    if (this.msMax !== null) this.timer = setTimeout(() => this.controller.abort(), this.msMax);
  }

  end(): void {
    clearTimeout(this.timer);
  }
}

async function* heardChunks(body: Response['body'], silence: Silence): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  for await (const chunk of body) {
    silence.heard();
    yield chunk;
  }
}

/** Null: a notification, or a reply. */
function requestIdOf({ id, method }: Message): RequestId | null {
  return typeof method === 'string' && (typeof id === 'string' || typeof id === 'number') ? id : null;
}

function isJsonRpcReply(reply: Message): boolean {
  return reply.jsonrpc === '2.0' && ('result' in reply || 'error' in reply);
}

/** An error of the server's other routes has its text in `message`. */
function refusalWords(status: number, { message }: Message): string {
  return typeof message === 'string' ? message : `the server answered ${status} without a message`;
}

/** The client shows it to its person. */
function wordsOf(error: unknown): string {
  if (!(error instanceof CommandError)) return 'The bridge failed; run it with --debug.';
  return error.hint === undefined ? error.message : `${error.message}. Hint: ${error.hint}`;
}
