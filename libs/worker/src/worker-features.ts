// What of the language this worker can run: every kind but those that need a program of their own, where that program
// is not there.
import { commandOn } from '@methods/executor/dependencies/find-command';
import type { PythonRuntimes } from '@methods/executor/runners/python-runtime';

/** `cleanup`: claims of runs that have failed, for what follows alone. */
const ALWAYS = ['ask', 'call', 'check', 'cleanup', 'http', 'node', 'parallel', 'steps', 'wait'];

/** Sorted. `path`: PATH of the steps. */
export async function workerFeatures(path: string, pythons: PythonRuntimes): Promise<readonly string[]> {
  const features = [...ALWAYS];
  if (commandOn(path, 'bash') !== null) features.push('shell');
  const python = await pythons.get('python3', path).catch(() => null);
  if (python !== null) features.push('python');
  return features.sort();
}
