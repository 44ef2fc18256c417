// An embedded server of the stack: it keeps its port, and is restarted with growing waits when it dies.
import { Backoff } from '@methods/base/backoff';
import { systemClock } from '@methods/base/clock';

export interface EmbeddedServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly exited: Promise<unknown>;
  stop(): Promise<void>;
}

export class EmbeddedPart {
  private readonly backoff = new Backoff({ firstMs: 100, maxMs: 5_000 });
  private server: EmbeddedServer | null = null;
  private stopping = false;

  constructor(
    readonly name: string,
    /** Port 0 picks a free one; a restart keeps the first. */
    private readonly launch: (port: number) => Promise<EmbeddedServer>,
    /** Called when it runs again, with another pid. */
    private readonly onRestart: (name: string) => void,
  ) {}

  get pid(): number {
    return this.server?.pid ?? 0;
  }

  async start(port = 0): Promise<string> {
    const server = await this.launch(port);
    this.server = server;
    this.backoff.reset();
    void server.exited.then(() => {
      if (!this.stopping) systemClock.after(this.backoff.nextMs(), () => this.restart(server.port));
    });
    return server.url;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.server?.stop();
  }

  private restart(port: number): void {
    if (this.stopping) return;
    this.start(port).then(
      () => this.onRestart(this.name),
      () => systemClock.after(this.backoff.nextMs(), () => this.restart(port)),
    );
  }
}
