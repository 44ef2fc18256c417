// Copies of the files a run calls, so that the run continues with the files it began with: `called/<sha256>`, by the
// names in `called/files.json`.
import { createHash } from 'node:crypto';
import { readRunFile, readRunText, writeRunFile, writeRunJson } from './run-files.ts';

const LIST = 'called/files.json';

/** Nothing is written for a run that calls none. */
export async function writeCalledFiles(runDir: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  if (files.size === 0) return;
  const names: Record<string, string> = {};
  for (const [path, bytes] of files) {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    names[path] = sha256;
    await writeRunFile(runDir, `called/${sha256}`, bytes);
  }
  await writeRunJson(runDir, LIST, names);
}

/** By absolute path. Throws for a copy that was changed. */
export async function readCalledFiles(runDir: string): Promise<Map<string, Buffer>> {
  const text = (await readRunText(runDir, LIST)) ?? '{}';
  const files = new Map<string, Buffer>();
  for (const [path, sha256] of Object.entries(JSON.parse(text) as Record<string, string>)) {
    const bytes = await readRunFile(runDir, `called/${sha256}`);
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
      throw new SyntaxError('its copy of a called method was changed');
    }
    files.set(path, bytes);
  }
  return files;
}
