// The output of a running worker: a ready line, a line for each run, and its connection lost and restored. With --json
// each is a JSON line.
import type { Logger } from '@methods/logging/logger';
import { CommandError } from '../errors/command-error.ts';
import { certificateFaultOf } from '../server/server-refusal.ts';
import type { Output, Paint } from '../terminal/output.ts';
import { timeSpan } from '../terminal/words.ts';

const ENDS: Readonly<Record<string, Paint>> = { succeeded: 'green', failed: 'red', waiting: 'yellow', lost: 'red' };

interface Facts {
  readonly methods: readonly string[];
  readonly concurrency: number;
  readonly server: string;
  /** With a person's token instead of a key. */
  readonly signedIn: boolean;
}

export class WorkerReport {
  /** Resolves when the server does not accept the key. */
  readonly refused: Promise<void>;
  refusal: CommandError | null = null;
  private refuse: () => void = () => {};
  /** Of the sign-in, since the server refused its token: `failed` for a reason that may pass. */
  private renewed: 'none' | 'due' | 'failed' | 'done' = 'none';
  /** What was said of certificates in this outage. */
  private readonly saidCertificates = new Set<string>();
  private state: 'starting' | 'seeking' | 'connected' | 'away' | 'stopping' = 'starting';

  constructor(
    private readonly output: Output,
    private readonly facts: Facts,
  ) {
    this.refused = new Promise((resolve) => {
      this.refuse = resolve;
    });
  }

  /** The part of the worker's log that helps a person at the terminal. */
  get logger(): Logger {
    const nothing = () => {};
    const logger: Logger = {
      debug: nothing,
      info: nothing,
      warn: (fields, message) => this.logged(fields, message),
      error: (fields, message) => this.logged(fields, message),
      child: () => logger,
    };
    return logger;
  }

  /** How steps are kept apart. */
  isolated(text: string): void {
    this.say({ event: 'isolation', text }, text);
  }

  connected(): void {
    const { methods, concurrency, server } = this.facts;
    const again = this.state === 'away';
    this.renewed = 'none';
    this.saidCertificates.clear();
    if (this.state === 'connected' || this.state === 'stopping') return;
    this.state = 'connected';
    if (again) return this.say({ event: 'connected' }, 'Connected again');
    const words = `Ready: ${methods.join(', ')}, ${concurrency} at a time, at ${server}`;
    this.say({ event: 'ready', ready: true, methods, concurrency, server }, words);
  }

  /** Notes whether the sign-in is renewed. @throws what `renew` throws */
  async renewal(renew: () => Promise<string>): Promise<string> {
    let outcome: 'failed' | 'done' = 'done';
    try {
      return await renew();
    } catch (error) {
      const code = error instanceof CommandError ? error.code : '';
      if (code !== 'sign_in_over' && code !== 'sign_in_refused') outcome = 'failed';
      throw error;
    } finally {
      if (this.renewed !== 'none') this.renewed = outcome;
    }
  }

  runEnded(run: { readonly runId: string; readonly method: string; readonly attempt: number }, end: string): void {
    const { runId, method, attempt } = run;
    const paint = ENDS[end] ?? 'dim';
    const tried = attempt > 1 ? `, attempt ${attempt}` : '';
    const words = `${this.output.paint(paint, end)} ${runId} ${this.output.paint('dim', `${method}${tried}`)}`;
    this.say({ event: 'run', run_id: runId, method, attempt, end }, words);
  }

  /** Of a run in device mode: the only place that has it. */
  result({ runId }: { readonly runId: string }, result: unknown): void {
    const text = JSON.stringify({ run_id: runId, status: 'succeeded', result });
    this.output.jsonLine({ at: new Date().toISOString(), event: 'result', run_id: runId, result });
    this.output.line(text);
  }

  stopping(): void {
    this.state = 'stopping';
    this.say({ event: 'draining' }, 'Stopping: present steps end, runs are given back');
  }

  stopped(): void {
    this.say({ event: 'stopped' }, 'Stopped');
  }

  private logged(fields: Readonly<Record<string, unknown>>, message: string): void {
    if (message !== 'not connected') {
      const of = fields.run ?? fields.key;
      this.output.note(`${message}${typeof of === 'string' ? ` (${of})` : ''}`);
      return;
    }
    const { code, waitMs, reason } = fields;
    // A token may expire before its issuer, or this machine, gives the next one. Only a renewed one is not tried again.
    const mayPass = code === 'unauthorized' && this.facts.signedIn && this.renewed !== 'done';
    if (mayPass && this.renewed === 'none') this.renewed = 'due';
    if ((code === 'unauthorized' || code === 'forbidden') && !mayPass) {
      this.refusal = this.refusalOf(String(code), String(reason));
      return this.refuse();
    }
    if (this.saidCertificate(fields)) return;
    // One line for an outage, for any number of tries.
    if (this.state !== 'starting' && this.state !== 'connected') return;
    const again = typeof waitMs === 'number' ? `, trying again in ${timeSpan(waitMs)}` : '';
    const isFirst = this.state === 'starting';
    this.state = isFirst ? 'seeking' : 'away';
    const words = isFirst ? 'No connection yet' : 'The connection is lost';
    this.say({ event: 'disconnected', code: String(code) }, `${words} (${String(code)})${again}`);
    // Such as a certificate for another name, which no time mends.
    if (isFirst) this.output.note(`If none comes:  methods doctor --server ${this.facts.server}  says why`);
  }

  /** A worker that was connected first loses its connection, and later meets the expired certificate: a line for each. */
  private saidCertificate({ certificate, address }: Readonly<Record<string, unknown>>): boolean {
    const fault = certificateFaultOf(String(certificate));
    if (fault === null || this.state === 'stopping') return false;
    if (this.state === 'starting') this.state = 'seeking';
    if (this.state === 'connected') this.state = 'away';
    const words = `the certificate of ${String(address)} ${fault.words}`;
    if (this.saidCertificates.has(words)) return true;
    this.saidCertificates.add(words);
    this.say(
      { event: 'disconnected', code: 'bad_certificate' },
      `No connection: ${words}; it is tried again until it is good`,
    );
    this.output.note(`hint: ${fault.hint}`);
    return true;
  }

  private refusalOf(code: string, reason: string): CommandError {
    const { server, signedIn } = this.facts;
    const key = 'make a key with  methods keys create --name NAME  and set SERVICE_API_KEY';
    if (!signedIn) {
      return new CommandError('unauthorized', 'the server does not accept the key of this worker', { hint: key });
    }
    if (code === 'forbidden') {
      return new CommandError('forbidden', `the server refuses this worker: ${reason}`, { hint: key });
    }
    const hint = `methods login --server ${server}`;
    return new CommandError('unauthorized', 'the server does not accept the sign-in of this worker', { hint });
  }

  private say(fields: Readonly<Record<string, unknown>>, words: string): void {
    this.output.jsonLine({ at: new Date().toISOString(), ...fields });
    this.output.line(words);
  }
}
