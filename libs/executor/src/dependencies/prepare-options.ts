// The options of the preparation of dependencies.
import type { Clock } from '@methods/base/clock';
import type { PythonRuntimes } from '../runners/python-runtime.ts';

export interface PrepareOptions {
  /** Environments are kept here, also for other processes. Absolute. */
  readonly cacheDir: string;
  /** The version's lock, if one was made before: the installation must match it. */
  readonly lock?: Uint8Array;
  /** Packages may run code while they are installed. */
  readonly allowScripts: boolean;
  /** PATH of the worker. */
  readonly path: string;
  /** The worker's environment; only its settings of npm, pip, proxies and certificates are used. */
  readonly host: ReadonlyMap<string, string>;
  /** Shared with the runners, so that the interpreter is queried once. */
  readonly pythons?: PythonRuntimes;
  /** For the pauses before a registry is asked again; the system's unless given. */
  readonly clock?: Clock;
  /** Ends the package managers and their processes. */
  readonly signal?: AbortSignal;
}
