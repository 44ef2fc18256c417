// Shared by the formats of files with MCP servers.
import { CommandError } from '../errors/command-error.ts';

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `reason`: about the file, which the caller names. */
export function notChanged(reason: string): CommandError {
  return new CommandError('not_written', reason);
}
