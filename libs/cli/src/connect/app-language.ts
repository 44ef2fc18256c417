// Detects the language of an app, by the files of its package managers.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

export type AppLanguage = 'node' | 'python';

const SIGNS: readonly (readonly [file: string, language: AppLanguage])[] = [
  ['package.json', 'node'],
  ['pyproject.toml', 'python'],
  ['requirements.txt', 'python'],
  ['setup.py', 'python'],
];

/** Returns all that are found, each once; empty: there is no such file. */
export async function appLanguages(app: string): Promise<AppLanguage[]> {
  const found = await Promise.all(
    SIGNS.map(([file, language]) =>
      stat(join(app, file)).then(
        () => [language],
        () => [],
      ),
    ),
  );
  return [...new Set(found.flat())];
}
