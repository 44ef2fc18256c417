// The languages of an app, by the files of its package managers, and the commands that install their client libraries
// from the server itself, with the hashes of what they install.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerApi } from '../server/server-api.ts';
import { readJson, requestServer } from '../server/server-request.ts';

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

export interface Install {
  readonly language: AppLanguage;
  readonly command: string;
  readonly sha256: string;
}

interface Package {
  readonly path: string;
  readonly sha256: string;
}

/** Of the languages for which the server has a package. */
export async function installs(
  { baseUrl }: ServerApi,
  languages: readonly AppLanguage[],
  signal: AbortSignal,
): Promise<Install[]> {
  const response = await requestServer(baseUrl, '/packages', { signal });
  const found: unknown = response.status === 200 ? await readJson(response) : {};
  return languages.flatMap((language) => {
    const each: unknown = (Object(found) as Record<string, unknown>)[language];
    if (!isPackage(each)) return [];
    return [{ language, command: installCommand(language, baseUrl, each), sha256: each.sha256 }];
  });
}

function installCommand(language: AppLanguage, baseUrl: string, { path, sha256 }: Package): string {
  const url = baseUrl + path;
  if (language === 'node') return `npm install ${url}`;
  return `python3 -m venv .venv && .venv/bin/pip install "methods-client[worker] @ ${url}#sha256=${sha256}"`;
}

/** Words for a shell: nothing else of the server's may be in a command. */
function isPackage(value: unknown): value is Package {
  const { path, sha256 } = Object(value) as Partial<Record<keyof Package, unknown>>;
  return (
    typeof path === 'string' &&
    /^\/packages\/[\w.-]+\/[\w.-]+$/.test(path) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  );
}
