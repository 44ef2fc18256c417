// An attack: callers that continue until they are stopped, each with its own connection.
import { RawHttp } from './raw-http.ts';

export interface AttackTarget {
  readonly baseUrl: string;
  /** Of a run-scheduler, for workers: host:port. */
  readonly workerAddress: string;
  /** Of the attacker's organization. */
  readonly key: string;
  /** Of a person of it. */
  readonly token: string;
  /** Of the same person, for agents. */
  readonly mcpToken: string;
  readonly method: string;
  /** Accepts connections and never replies. */
  readonly silentUrl: string;
}

/** The end of an attack, for all that it has open. */
export class AttackEnd {
  private readonly waiting = new Set<() => void>();
  private over = false;

  get reached(): boolean {
    return this.over;
  }

  /** Returns what takes it back. */
  at(run: () => void): () => void {
    this.waiting.add(run);
    return () => this.waiting.delete(run);
  }

  reach(): void {
    this.over = true;
    for (const run of this.waiting) run();
  }
}

/** Called with each reply as a word: a status, or the fault. */
type Tell = (reply: string) => void;
export type Attack = (target: AttackTarget, end: AttackEnd, tell: Tell) => void;

export interface AttackCaller {
  readonly target: AttackTarget;
  readonly http: RawHttp;
  readonly end: AttackEnd;
}

const CALLERS = 16;
/** A refusal says when to come again; an attacker does not obey, but does not spin either. */
const PAUSE_MS = 5;

/** `prepare` makes what the callers share, such as the bytes of their request. */
export function byCallers<Prepared>(
  prepare: (target: AttackTarget) => Prepared,
  call: (caller: AttackCaller, prepared: Prepared) => Promise<string>,
  callers = CALLERS,
): Attack {
  return (target, end, tell) => {
    const prepared = prepare(target);
    const caller = async () => {
      const http = new RawHttp(target.baseUrl);
      end.at(() => http.close());
      while (!end.reached) {
        tell(await call({ target, http, end }, prepared).catch((error: Error) => `no reply: ${error.name}`));
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    };
    for (let n = 0; n < callers; n++) void caller();
  };
}
