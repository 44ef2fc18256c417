// The commands' interface to a server: JSON in, JSON out, refusals as errors, and retries where a repeat is harmless.
import { readEvents, type ServerSentEvent } from '@methods/api/event-stream';
import type { MethodId } from '@methods/base/ids';
import { CommandError } from '../errors/command-error.ts';
import { type Credential, type Credentials, credentialFor } from './credential.ts';
import type { ServerFacts } from './server-facts.ts';
import { ServerRefusal } from './server-refusal.ts';
import { readJson, requestServer, whileBusy } from './server-request.ts';

const PAGE_ITEMS_MAX = 200;
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Reply<T> {
  readonly status: number;
  readonly value: T;
  readonly headers: Headers;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

export interface ServerApiParts {
  readonly baseUrl: string;
  readonly facts: ServerFacts;
  readonly credentials: Credentials;
  /** For a local stack: bare ids of its methods by the names of their files. */
  readonly methodNames?: ReadonlyMap<string, MethodId>;
  /** Ends every request. */
  readonly interrupted: AbortSignal;
}

/** Every method throws CommandError: a ServerRefusal, `unreachable`, `bad_certificate`, `sign_in_over`. */
export class ServerApi {
  readonly baseUrl: string;
  readonly facts: ServerFacts;
  readonly methodNames: ReadonlyMap<string, MethodId>;

  constructor(private readonly parts: ServerApiParts) {
    this.baseUrl = parts.baseUrl;
    this.facts = parts.facts;
    this.methodNames = parts.methodNames ?? new Map();
  }

  /** The kind of credential for a path. */
  credentialKind(path: string): Credential['kind'] {
    return credentialFor(path, this.parts.credentials).kind;
  }

  /** Of the service key that requests to the path carry; absent: there is none. */
  contentPart(path: string): string | undefined {
    return credentialFor(path, this.parts.credentials).contentPart;
  }

  /** The same server, with another service key on the routes of programs. */
  withKey(forRuns: Credential): ServerApi {
    return new ServerApi({ ...this.parts, credentials: { ...this.parts.credentials, forRuns } });
  }

  /** Returns the bearer for a path, for a part that calls the server itself, such as a worker. */
  bearer(path: string): Promise<string | null> {
    return credentialFor(path, this.parts.credentials).bearer(this.parts.interrupted);
  }

  /** For such a part, after the bearer `refused` was refused: `bearer` returns another one then, if there is one. */
  async renewBearer(path: string, refused: string): Promise<void> {
    const { credentials, interrupted } = this.parts;
    await credentialFor(path, credentials).renew(interrupted, refused);
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    return (await this.send<T>('GET', withQuery(path, query))).value;
  }

  /** `idempotent`: a repeat is harmless, as for a request with its own key. */
  async send<T>(
    verb: Verb,
    path: string,
    body?: unknown,
    { idempotent = REPEATABLE.has(verb) }: { readonly idempotent?: boolean } = {},
  ): Promise<Reply<T>> {
    const ask = () => this.ask(verb, path, body === undefined ? {} : { body });
    return this.replyOf<T>(path, await (idempotent ? whileBusy(ask, this.parts.interrupted) : ask()));
  }

  /** A body of bytes, which may take as long as they need. */
  async sendContent<T>(
    path: string,
    content: () => ReadableStream,
    headers: Record<string, string>,
  ): Promise<Reply<T>> {
    return this.replyOf<T>(path, await this.ask('POST', path, { content, headers, timeMs: null }));
  }

  /** One connection: it ends when the server ends it; `lastEventId` continues after that event. */
  async *stream(
    path: string,
    signal: AbortSignal,
    { lastEventId }: { readonly lastEventId?: string } = {},
  ): AsyncGenerator<ServerSentEvent> {
    const headers = {
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const response = await this.ask('GET', path, { headers, timeMs: null, signal });
    if (!response.ok || response.body === null) {
      await this.replyOf(path, response);
      return;
    }
    try {
      yield* readEvents(response.body, (message) => new CommandError('too_large', message));
    } catch (error) {
      if (signal.aborted || error instanceof CommandError) throw error;
      throw new CommandError('unreachable', `the connection to the server at ${this.baseUrl} broke`, { cause: error });
    }
  }

  async page<T>(path: string, query: Query): Promise<Page<T>> {
    const page = await this.get<Page<T>>(path, query);
    if (!Array.isArray(page.items)) throw this.unexpected(path);
    return page;
  }

  /** Newest first, at most `limit`, over as many pages as needed. */
  async *items<T>(path: string, query: Query = {}, limit = Number.POSITIVE_INFINITY): AsyncGenerator<T> {
    let left = limit;
    let cursor: string | null = null;
    while (left > 0) {
      const more: Query = { ...query, limit: Math.min(left, PAGE_ITEMS_MAX), ...(cursor === null ? {} : { cursor }) };
      const page: Page<T> = await this.page<T>(path, more);
      for (const item of page.items.slice(0, left)) yield item;
      left -= page.items.length;
      if (page.next_cursor === null || page.items.length === 0) return;
      cursor = page.next_cursor;
    }
  }

  /** Ends early when the command is interrupted, by throwing. */
  wait(ms: number): Promise<void> {
    const { interrupted } = this.parts;
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(interrupted.reason);
      };
      const timer = setTimeout(() => {
        interrupted.removeEventListener('abort', stop);
        resolve();
      }, ms);
      interrupted.addEventListener('abort', stop, { once: true });
    });
  }

  private async ask(
    verb: string,
    path: string,
    more: {
      body?: unknown;
      content?: () => ReadableStream;
      headers?: Record<string, string>;
      timeMs?: null;
      signal?: AbortSignal;
    },
  ): Promise<Response> {
    const { interrupted, credentials } = this.parts;
    const credential = credentialFor(path, credentials);
    const { headers = {}, signal: own, ...rest } = more;
    const signal = own === undefined ? interrupted : AbortSignal.any([own, interrupted]);
    let bearer: string | null = null;
    const once = async () => {
      bearer = await credential.bearer(signal);
      const authorization: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
      return requestServer(this.baseUrl, path, { ...rest, verb, signal, headers: { ...headers, ...authorization } });
    };
    const response = await once();
    if (response.status !== 401 || !(await credential.renew(signal, bearer))) return response;
    await response.body?.cancel();
    return once();
  }

  private async replyOf<T>(path: string, response: Response): Promise<Reply<T>> {
    const { status, headers } = response;
    if (status === 204) return { status, headers, value: undefined as T };
    // A proxy has its own error format.
    const body = response.ok ? await readJson(response) : await readJson(response).catch(() => null);
    if (response.ok && (typeof body !== 'object' || body === null)) throw this.unexpected(path);
    if (response.ok) return { status, headers, value: body as T };
    if (status === 401) throw this.unauthorized(path);
    throw new ServerRefusal(status, body);
  }

  private unexpected(path: string): CommandError {
    return new CommandError('bad_reply', `${this.baseUrl}${path} sent an unexpected reply`, {
      hint: 'is there a proxy in between?',
    });
  }

  private unauthorized(path: string): ServerRefusal {
    const kind = this.credentialKind(path);
    const login = `methods login --server ${this.baseUrl}`;
    const [message, hint] = {
      'sign-in': ['the server does not accept the sign-in', login],
      'service-key': ['the server does not accept SERVICE_API_KEY', 'make a key with  methods keys create --name NAME'],
      'local-stack': ['the local stack does not accept its own key', 'start it again'],
      none: ['not signed in', login],
    }[kind] as [string, string];
    return new ServerRefusal(401, { error: 'unauthorized', message }, hint);
  }
}

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  if (given.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(given as [string, string][])}`;
}
