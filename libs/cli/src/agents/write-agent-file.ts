// Sets this server in the file of an agent's program. A reader sees either the old file or the new one.
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import { writeWhole } from '../files/write-whole.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { type AgentFile, entryOf, type Way } from './agent-apps.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024;

export type Written = 'created' | 'changed' | 'unchanged';

/** The part of the file that is about this server. */
export async function agentLines(file: AgentFile, name: string, way: Way): Promise<string> {
  const entry = entryOf(file, way);
  if (file.format === 'toml') return (await import('./toml-servers.ts')).tomlServer([file.serversKey, name], entry);
  return `${JSON.stringify({ [file.serversKey]: { [name]: entry } }, null, 2)}\n`;
}

/** @throws CommandError `not_written`: the file is unchanged. */
export async function writeAgentFile(file: AgentFile, name: string, way: Way): Promise<Written> {
  const { path, format, serversKey } = file;
  const before = await readAgentFile(path);
  const place = [serversKey, name] as const;
  const entry = entryOf(file, way);
  let after: string;
  try {
    after =
      format === 'toml'
        ? (await import('./toml-servers.ts')).withTomlServer(before ?? '', place, entry)
        : (await import('./json-servers.ts')).withJsonServer(before ?? '', place, entry);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.code, `${path} was not changed: ${error.message}`, {
      hint: 'mend it, or add the lines that are printed without --write by hand',
    });
  }
  if (after === before) return 'unchanged';
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeWhole(path, after);
  } catch (error) {
    throw new CommandError('not_written', `cannot write ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  return before === null ? 'created' : 'changed';
}

/** Null: there is none. */
async function readAgentFile(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new CommandError('not_written', `cannot read ${path}: ${reasonOf(error)}`);
  });
  if (bytes === null) return null;
  if (bytes.length > FILE_BYTES_MAX) throw new CommandError('not_written', `${path} was not changed: it is over 4 MiB`);
  return bytes.toString('utf8');
}
