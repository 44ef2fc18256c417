// Fetches from the run-scheduler the files that the inputs of a granted run reference.
import { ServiceError } from '@methods/errors/service-error';
import type { FetchFile, InputFolder } from '@methods/executor/files/input-folder';
import { StepFailure } from '@methods/executor/step-failure';
import { compileCheck } from '@methods/method/check-value';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject, JsonSchema, JsonValue } from '@methods/method/json';
import { replaceFiles } from '@methods/method/typed-fields';
import type { Grant, WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import type { Client } from '@methods/rpc/client';

/** Enough for the largest file over a slow line. A lost server is noticed long before. */
const TRANSFER_MS = 3_600_000;

type Patiently = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Fetches with the token of the attempt: the server gives a file only to the worker that holds a run which references
 * it.
 */
export function fetchOf(
  { runId, token }: Pick<Grant, 'runId' | 'token'>,
  client: () => Client<typeof WorkerService>,
  patiently: Patiently,
): FetchFile {
  return (fileId, take) =>
    patiently(async (signal) => {
      try {
        await take(partsOf(client().getInputFile({ runId, token, fileId }, { signal, timeoutMs: TRANSFER_MS })));
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
        throw new StepFailure('input', 'A file of the inputs no longer exists');
      }
    });
}

async function* partsOf(messages: AsyncIterable<{ readonly chunk: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { chunk } of messages) yield chunk;
}

/** The server cannot check sealed inputs, nor fill in their defaults. */
function checked(schema: JsonSchema, inputs: JsonValue): JsonObject {
  const check = compileCheck(schema)(inputs);
  if (check.ok) return check.value as JsonObject;
  const [first] = 'findings' in check ? check.findings : [];
  const found = first === undefined ? '' : `: ${first.path} ${first.message}`;
  throw new StepFailure('input', `The inputs do not fit the method${found}`);
}

/** The inputs as the run sees them. A value that is not a valid reference is kept, and fails the run. */
export function inputsOf(
  { inputsJson }: Pick<Grant, 'inputsJson'>,
  { inputSchema }: Pick<CompiledMethod, 'inputSchema'>,
  files: InputFolder,
  isSealed: boolean,
): JsonObject {
  const inputs = isSealed ? checked(inputSchema, JSON.parse(inputsJson)) : (JSON.parse(inputsJson) as JsonObject);
  return replaceFiles(inputSchema, inputs, (file) => files.referenceTo(file) ?? file) as JsonObject;
}
