// What the preparation of dependencies is given by its host.
import type { Clock } from '@methods/base/clock';
import type { PythonRuntimes } from '../runners/python-runtime.ts';

export interface PrepareOptions {
  /** Environments are kept here, also for other processes. Absolute. */
  readonly cacheDir: string;
  /** The version's lock, where one was made before: what is installed must be what it says. */
  readonly lock?: Uint8Array;
  /** Packages may run code while they are installed. */
  readonly allowScripts: boolean;
  /** PATH of the worker. */
  readonly path: string;
  /** The worker's environment; of it only the settings of npm, pip, proxies and certificates are used. */
  readonly host: ReadonlyMap<string, string>;
  /** Shared with the runners, so that the interpreter is asked once. */
  readonly pythons?: PythonRuntimes;
  /** For the pauses before a registry is asked again; the system's unless given. */
  readonly clock?: Clock;
  /** Ends the package managers and what they started. */
  readonly signal?: AbortSignal;
}
