// Lists the features of the language that this worker can run: every kind except those whose program is not installed.
import { commandOn } from '@methods/executor/dependencies/find-command';
import type { PythonRuntimes } from '@methods/executor/runners/python-runtime';

/**
 * `answer_policies`: it reads sources whose questions have a policy, and leaves the policy to the service. `cleanup`: it
 * claims failed runs to execute only their cleanup steps.
 */
const ALWAYS = ['answer_policies', 'ask', 'call', 'check', 'cleanup', 'http', 'node', 'parallel', 'steps', 'wait'];

/** Sorted. `path` is the PATH of the steps. */
export async function workerFeatures(path: string, pythons: PythonRuntimes): Promise<readonly string[]> {
  const features = [...ALWAYS];
  if (commandOn(path, 'bash') !== null) features.push('shell');
  const python = await pythons.get('python3', path).catch(() => null);
  if (python !== null) features.push('python');
  return features.sort();
}
