// The server of the bridge. It is looked up when the first message needs it, waited for while it is down, and looked up
// again after it was lost: a program starts the bridge with itself, often before the server or its network is there.
import { setTimeout as delay } from 'node:timers/promises';
import { Backoff } from '@methods/base/backoff';
import { CommandError } from '../errors/command-error.ts';
import type { Credential } from '../server/credential.ts';

export interface AgentServer {
  /** Of its MCP endpoint. */
  readonly url: string;
  readonly credential: Credential;
}

export interface AgentServersOptions {
  /** Rejects with a CommandError. */
  readonly find: () => Promise<AgentServer>;
  /** A request waits this long for a server that is down; programs wait longer for a reply. */
  readonly waitMsMax?: number;
  /** The program is to end. */
  readonly interrupted: AbortSignal;
}

const WAIT_MS_MAX = 20_000;
const PAUSES = { firstMs: 100, maxMs: 2_000 };
/** Faults that pass by themselves. */
const PASSING = ['unreachable', 'unavailable', 'no_server'];
/** After these the server, its address or the sign-in may be another one. */
const LOST = ['unreachable', 'unauthorized'];

export class AgentServers {
  private found: Promise<AgentServer> | null = null;

  constructor(private readonly options: AgentServersOptions) {}

  /** One search serves all that wait. @throws the search's CommandError, or the signal's reason. */
  current(signal: AbortSignal): Promise<AgentServer> {
    this.found ??= this.search();
    const found = this.found;
    found.catch(() => {
      if (this.found === found) this.found = null;
    });
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      found.then(resolve, reject);
    });
  }

  /** What a request failed with. */
  failed(error: unknown): void {
    if (error instanceof CommandError && LOST.includes(error.code)) this.found = null;
  }

  private async search(): Promise<AgentServer> {
    const { find, waitMsMax = WAIT_MS_MAX, interrupted } = this.options;
    const untilMs = performance.now() + waitMsMax;
    for (const pauses = new Backoff(PAUSES); ; ) {
      try {
        return await find();
      } catch (error) {
        const pauseMs = pauses.nextMs();
        const isPassing = error instanceof CommandError && PASSING.includes(error.code);
        if (!isPassing || performance.now() + pauseMs > untilMs) throw error;
        await delay(pauseMs, undefined, { signal: interrupted });
      }
    }
  }
}
