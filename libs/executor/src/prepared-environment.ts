// A version's prepared dependencies on this machine: where code steps find packages, an interpreter and commands.

export interface PreparedEnvironment {
  /** The `node_modules` folder that imports of bare names resolve in; null: no packages. */
  readonly nodePath: string | null;
  /** The interpreter of python steps, absolute or a name on PATH. */
  readonly pythonCommand: string;
  /** Put before the worker's PATH, `:` between; empty: nothing. */
  readonly path: string;
  /** Folders that steps must be able to read, besides the runtimes. */
  readonly folders: readonly string[];
}

/** For a method without dependencies. */
export const PLAIN_ENVIRONMENT: PreparedEnvironment = {
  nodePath: null,
  pythonCommand: 'python3',
  path: '',
  folders: [],
};
