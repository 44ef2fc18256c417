// The settings that an application gives by its environment, or by `.env` in its working folder.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

export interface Surroundings {
  readonly apiKey: string | undefined;
  readonly server: string | undefined;
}

/** The environment wins over the file. */
export function readSurroundings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  file = '.env',
): Surroundings {
  const kept = readEnvFile(file);
  const setting = (name: string) => environment[name] || kept[name] || undefined;
  return { apiKey: setting('SERVICE_API_KEY'), server: setting('METHODS_SERVER') };
}

function readEnvFile(file: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}
