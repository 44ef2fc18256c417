// Turns files among the inputs of a run on this machine into files of the run, before its first step.
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { mediaTypeOf } from '@methods/executor/files/file-value';
import type { RunFolder } from '@methods/executor/run-folder';
import type { CompiledMethod } from '@methods/method/compiled-method';
import { isJsonObject, type JsonObject, type JsonValue, objectOf } from '@methods/method/json';
import { fileFields, replaceFiles } from '@methods/method/typed-fields';
import { CommandError } from '../errors/command-error.ts';
import type { GivenFile } from './given-inputs.ts';

/** Replaces a step's path; no step can have the name. */
export function inputFile(number: number): string {
  return `@inputs/${number}`;
}

/** Returns `value` with some of its objects replaced. */
export function withFiles(value: JsonValue, files: ReadonlyMap<JsonObject, JsonObject>): JsonValue {
  if (files.size === 0 || typeof value !== 'object' || value === null) return value;
  if (!isJsonObject(value)) return value.map((item) => withFiles(item, files));
  const file = files.get(value);
  if (file !== undefined) return file;
  return objectOf(Object.entries(value).map(([name, member]) => [name, withFiles(member, files)] as const));
}

/** Replaces a file while the inputs are checked like those of a caller, who names files by id. */
export function placeholder(number: number): JsonObject {
  return { file_id: `file_${String(number).padStart(26, '0')}` };
}

function numberOf(file: JsonObject): number {
  return Number(String(file.file_id).slice('file_'.length));
}

/** @throws CommandError `invalid_inputs` for a file that is not one of the `count` placed ones. */
export function refuseServerFiles({ inputSchema }: CompiledMethod, inputs: JsonObject, count: number): void {
  for (const { file, path } of fileFields(inputSchema, inputs)) {
    if (numberOf(file) < count) continue;
    const message = `${path.join('.')} names a file of a server, which a run on this machine does not have`;
    throw new CommandError('invalid_inputs', message, { hint: `--inputs ${path[0]}=@FILE` });
  }
}

/** Returns the inputs with each placed file as one of the run's folder. */
export async function withGivenFiles(
  folder: RunFolder,
  { inputSchema }: CompiledMethod,
  inputs: JsonObject,
  files: readonly GivenFile[],
): Promise<JsonObject> {
  const written: JsonObject[] = [];
  for (const [number, { path, name }] of files.entries()) {
    const type = mediaTypeOf(extname(name));
    written.push({ ...(await folder.write(inputFile(number), name, createReadStream(path), type)), name });
  }
  return replaceFiles(inputSchema, inputs, (file) => written[numberOf(file)] ?? file) as JsonObject;
}
