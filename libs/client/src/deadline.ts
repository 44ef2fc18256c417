// The end of waiting: a time limit, or a caller who gives up.
import { setMaxListeners } from 'node:events';

/** Aborts its signal after a time, or when the caller's signal does. Holds one timer until `end`. */
export class Deadline {
  isOver = false;
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout;
  private readonly stop: () => void;

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.timer = this.after(ms);
    this.stop = onAbort(outer, (reason) => this.controller.abort(reason));
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Another time begins. */
  restart(ms: number): void {
    clearTimeout(this.timer);
    this.timer = this.after(ms);
  }

  /** The time begins again. */
  refresh(): void {
    this.timer.refresh();
  }

  end(): void {
    clearTimeout(this.timer);
    this.stop();
  }

  private after(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.isOver = true;
      this.controller.abort();
    }, ms);
  }
}

/** Calls `listener` once, at once if the signal is aborted. Returns how to stop. */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    listener(signal.reason);
    return () => {};
  }
  const aborted = () => listener(signal.reason);
  // A program may stop all its calls with one signal, and Node warns of more than ten listeners.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', aborted, { once: true });
  return () => signal.removeEventListener('abort', aborted);
}

/** For what many callers wait for. @throws the reason of the signal, if that is first */
export function unlessLeft<T>(event: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, reject);
    event.then(resolve, reject).finally(stop);
  });
}
