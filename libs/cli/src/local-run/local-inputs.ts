// The inputs of a local run (`--inputs` with JSON, `@FILE`, or `@-` for standard input) and its secrets.
import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { compileCheck } from '@methods/method/check-value';
import type { CompiledMethod, DeclaredSecret } from '@methods/method/compiled-method';
import { wellFormed } from '@methods/method/cut-text';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { loneSurrogateIn } from '@methods/method/lone-surrogates';
import { parse } from 'yaml';
import type { CommandContext } from '../command/command.ts';
import { CommandError, UsageError } from '../errors/command-error.ts';
import type { LocalMethod } from '../method-file/local-method.ts';
import { reasonOf, utf8Text } from '../method-file/method-file.ts';

/**
 * Reads an option that takes JSON or `@FILE`. An interrupt ends the wait for standard input. @throws UsageError,
 * CommandError `not_found`
 */
export async function readJsonOption(
  option: string,
  given: string,
  { cwd, interrupted }: Pick<CommandContext, 'cwd' | 'interrupted'>,
  // Not /dev/stdin, which cannot be opened if it is a socket, as in a process that Node started.
  stdin: Readable = process.stdin,
): Promise<JsonValue> {
  if (!given.startsWith('@')) return parseAs(option, () => JSON.parse(given));
  const file = given.slice(1);
  const reading = file === '-' ? buffer(addAbortSignal(interrupted, stdin)) : readFile(resolve(cwd, file));
  const bytes = await reading.catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('not_found', `cannot read ${file}: ${reasonOf(error)}`);
  });
  const isYaml = ['.yaml', '.yml'].includes(extname(file).toLowerCase());
  return parseAs(option, () => (isYaml ? parse(utf8Text(bytes), { maxAliasCount: 0 }) : JSON.parse(utf8Text(bytes))));
}

function parseAs(option: string, read: () => unknown): JsonValue {
  try {
    return read() as JsonValue;
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new UsageError(`${option} is not JSON: ${reason}`, `${option} '{"name": "value"}'  or  ${option} @FILE`);
  }
}

/** The inputs with their defaults. @throws CommandError `invalid_inputs`, naming every one that does not fit. */
export function fittingInputs(method: CompiledMethod, given: JsonValue): JsonObject {
  const half = loneSurrogateIn(given, JSON.stringify(given));
  if (half !== null) {
    const hint = 'write the character whole, such as  "\\ud83d\\udd11"';
    throw new CommandError('invalid_inputs', `the inputs hold half of a character at ${wellFormed(half)}`, { hint });
  }
  const checked = compileCheck(method.inputSchema)(given);
  if (checked.ok && isJsonObject(checked.value)) return checked.value;
  const findings = checked.ok ? [] : checked.findings;
  const faults = findings.map(({ path, message }) => `${path.slice(1) || 'inputs'} ${message}`);
  const fields = isJsonObject(method.inputSchema.properties) ? Object.keys(method.inputSchema.properties) : [];
  throw new CommandError('invalid_inputs', `the inputs do not fit: ${faults.join('; ')}`, {
    hint: fields.length === 0 ? 'the method takes none' : `the method takes: ${fields.join(', ')}`,
  });
}

// The secrets of a local run come from the environment; all missing ones are named before the first step.

/** @throws CommandError `secret_missing`. Values too short to be masked are the run's own failure. */
export function refuseMissingSecrets({ method, called }: LocalMethod, variables: ReadonlyMap<string, string>): void {
  const declared = new Map<string, DeclaredSecret>();
  for (const inner of [...called.values()].map((each) => each.method)) {
    for (const secret of inner.secrets) declared.set(secret.name, secret);
  }
  for (const secret of method.secrets) declared.set(secret.name, secret);
  const missing = [...declared.values()].filter(({ name }) => (variables.get(name) ?? '') === '');
  const [first] = missing;
  if (first === undefined) return;
  const names = missing.map(({ name, note }) => (note === undefined ? name : `${name} (${note})`)).join(', ');
  const many = missing.length > 1;
  throw new CommandError('secret_missing', `the secret${many ? 's' : ''} ${names} ${many ? 'are' : 'is'} not set`, {
    hint: `set ${many ? 'them' : 'it'} in the environment:  export ${first.name}=…`,
  });
}
