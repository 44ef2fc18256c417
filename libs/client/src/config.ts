// The settings that an application gives by its environment, or by `.env` in its working folder.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Surroundings {
  readonly apiKey: string | undefined;
  readonly server: string | undefined;
  /** Where the command line stores sign-ins. */
  readonly stateDir: string;
}

/** The environment wins over the file. */
export function readSurroundings(environment: Environment = process.env, file = '.env'): Surroundings {
  const kept = readEnvFile(file);
  const setting = (name: string) => environment[name] || kept[name] || undefined;
  const home = environment.HOME ?? environment.USERPROFILE ?? homedir();
  return {
    apiKey: setting('SERVICE_API_KEY'),
    server: setting('METHODS_SERVER'),
    stateDir: environment.XDG_STATE_HOME || join(home, '.local', 'state'),
  };
}

function readEnvFile(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** Steps get what they declare of it. One that could read the key could act for the whole organization. */
export function workerEnvironment(): Record<string, string | undefined> {
  const { SERVICE_API_KEY: _key, ...others } = process.env;
  return others;
}
