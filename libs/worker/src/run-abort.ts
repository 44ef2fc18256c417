// The end of a held run from outside. In place of an AbortController, which costs as much as a short step and is needed
// only for transfers of files.
import type { StopListener, StopSignal } from '@methods/executor/run-stop';

export class RunAbort implements StopSignal {
  private readonly listeners = new Set<StopListener>();
  private controller: AbortController | null = null;
  private isAborted = false;

  get aborted(): boolean {
    return this.isAborted;
  }

  /** The listener is called once, when the run is aborted. */
  addEventListener(_type: 'abort', listener: StopListener): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: StopListener): void {
    this.listeners.delete(listener);
  }

  abort(): void {
    if (this.isAborted) return;
    this.isAborted = true;
    for (const listener of this.listeners) listener.handleEvent();
    this.listeners.clear();
    this.controller?.abort();
  }

  /** For what takes a signal. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isAborted) this.controller.abort();
    return this.controller.signal;
  }
}
