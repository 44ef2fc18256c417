// Finds the Python interpreter of the steps and asks it once for its paths and version: a name on PATH may be a slow
// wrapper script, and a sandbox needs the interpreter's location.
import { execFile } from 'node:child_process';
import { StepFailure } from '../step-failure.ts';

export interface PythonRuntime {
  /** The interpreter itself, absolute. */
  readonly executable: string;
  /** Folders it reads: its installation and, in a venv, the venv. */
  readonly folders: readonly string[];
  /** Such as `3.11.7`. */
  readonly version: string;
}

const PROBE =
  'import sys, json; print(json.dumps([sys.executable, sys.base_prefix, sys.prefix, sys.version.split()[0]]))';
const PROBE_MS_MAX = 30_000;
const OLDEST = [3, 8] as const;

export class PythonRuntimes {
  private readonly known = new Map<string, Promise<PythonRuntime>>();

  /** `path`: where a plain name is looked up. Rejects with a StepFailure of kind dependency. */
  get(command: string, path: string): Promise<PythonRuntime> {
    const key = `${command}\n${path}`;
    let runtime = this.known.get(key);
    if (runtime === undefined) {
      runtime = probe(command, path);
      this.known.set(key, runtime);
      // A failure is not cached: Python may be installed while the worker runs.
      runtime.catch(() => this.known.delete(key));
    }
    return runtime;
  }
}

function probe(command: string, path: string): Promise<PythonRuntime> {
  return new Promise((resolve, reject) => {
    const options = { env: { PATH: path, LANG: 'C.UTF-8' }, timeout: PROBE_MS_MAX, cwd: '/' };
    execFile(command, ['-I', '-c', PROBE], options, (error, stdout) => {
      if (error !== null) {
        reject(new StepFailure('dependency', `Python is not on the worker's PATH, or does not start (${command})`));
        return;
      }
      const [executable, base, prefix, version] = JSON.parse(stdout) as [string, string, string, string];
      const [major = 0, minor = 0] = version.split('.').map(Number);
      if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
        reject(new StepFailure('dependency', `Python ${version} is too old; ${OLDEST.join('.')} or later is needed`));
        return;
      }
      resolve({ executable, folders: [...new Set([base, prefix])], version });
    });
  });
}
