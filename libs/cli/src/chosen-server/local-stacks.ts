// The local stacks that run on this machine, by the ready lines they leave in the user's state folder.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bareMethodId, type MethodId } from '@methods/base/ids';
import { isRunning as isProcessRunning } from '@methods/base/running-process';

/** In the command line of every running stack, also of earlier builds. */
const MAIN = /\bdeploy[/.]local[/.]src[/.]main\./;
const STACKS_MAX = 100;

export interface LocalStack {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly issuer: string;
  readonly dataDir: string;
  /** Bare ids of the methods it published at its start, by the names of their files. */
  readonly methods: ReadonlyMap<string, MethodId>;
}

/** Returns stacks whose process runs, by address: a killed one leaves its line behind. */
export async function localStacks(stateDir: string): Promise<LocalStack[]> {
  const folder = join(stateDir, 'methods', 'stacks');
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json')).slice(0, STACKS_MAX);
  const stacks = await Promise.all(names.map((name) => stackOf(join(folder, name))));
  return stacks.flatMap((stack) => stack ?? []).sort((a, b) => (a.baseUrl < b.baseUrl ? -1 : 1));
}

async function stackOf(file: string): Promise<LocalStack | null> {
  let line: Record<string, unknown>;
  try {
    line = Object(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // Removed or replaced meanwhile.
    return null;
  }
  const { base_url: baseUrl, api_key: apiKey, issuer, data_dir: dataDir } = line;
  if (typeof baseUrl !== 'string' || typeof apiKey !== 'string' || typeof issuer !== 'string') return null;
  if (typeof dataDir !== 'string' || !(await isRunning(dataDir))) return null;
  return { baseUrl, apiKey, issuer, dataDir, methods: methodsOf(line.methods) };
}

function methodsOf(told: unknown): Map<string, MethodId> {
  const pairs = Object.entries(Object(told)).flatMap(([name, word]): [string, MethodId][] => {
    const id = typeof word === 'string' ? bareMethodId(word) : null;
    return id === null ? [] : [[name, id]];
  });
  return new Map(pairs);
}

/** Reports whether the holder of the folder's lock is a stack, and not a later process with its id. */
async function isRunning(dataDir: string): Promise<boolean> {
  const pid = Number(await readFile(join(dataDir, 'stack.lock'), 'utf8').catch(() => ''));
  if (!isProcessRunning(pid)) return false;
  if (process.platform !== 'linux') return true;
  return MAIN.test(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
}
