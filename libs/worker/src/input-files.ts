// The files that the inputs of a granted run reference: fetched from the run-scheduler, and in device mode opened here.
import { SealedValueError } from '@methods/content/device/sealed-value-error';
import { isSealedReference } from '@methods/content/sealed-file-reference';
import { ServiceError } from '@methods/errors/service-error';
import type { FetchFile, InputFolder } from '@methods/executor/files/input-folder';
import { StepFailure } from '@methods/executor/step-failure';
import { type CheckValue, compileCheck } from '@methods/method/check-value';
import type { CompiledMethod } from '@methods/method/compiled-method';
import type { JsonObject, JsonSchema, JsonValue } from '@methods/method/json';
import { replaceFiles } from '@methods/method/typed-fields';
import type { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import type { Client } from '@methods/rpc/client';
import type { RunContent } from './content/run-content.ts';

/** Enough for the largest file over a slow line. A lost server is noticed long before. */
const TRANSFER_MS = 3_600_000;

type Patiently = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Of one run. */
export class InputFiles {
  /** Of sealed files, by their ids. */
  private readonly contentIds = new Map<string, string>();

  constructor(
    private readonly content: Pick<RunContent, 'grant' | 'isSealed' | 'openedFile'>,
    private readonly client: () => Client<typeof WorkerService>,
    private readonly patiently: Patiently,
  ) {}

  /**
   * Fetches with the token of the attempt: the server gives a file only to the worker that holds a run which references
   * it.
   */
  readonly fetch: FetchFile = (fileId, take) => {
    const { runId, token } = this.content.grant;
    return this.patiently(async (signal) => {
      try {
        const request = { runId, token, fileId };
        const parts = partsOf(this.client().getInputFile(request, { signal, timeoutMs: TRANSFER_MS }));
        await take(this.content.openedFile(this.contentIds.get(fileId) ?? '', parts));
      } catch (error) {
        if (error instanceof SealedValueError) throw new StepFailure('input', 'A file of the inputs arrived damaged');
        if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
        throw new StepFailure('input', 'A file of the inputs no longer exists');
      }
    });
  };

  /** The inputs as the run sees them. A value that is not a valid reference is kept, and fails the run. */
  inputsOf({ inputSchema }: Pick<CompiledMethod, 'inputSchema'>, folder: InputFolder): JsonObject {
    const inputs = JSON.parse(this.content.grant.inputsJson) as JsonValue;
    const given = this.content.isSealed ? this.checked(inputSchema, inputs) : inputs;
    return replaceFiles(inputSchema, given, (file) => folder.referenceTo(file) ?? file) as JsonObject;
  }

  /** The server cannot check sealed inputs, nor fill in their defaults. A file is checked as other inputs have it. */
  private checked(schema: JsonSchema, inputs: JsonValue): JsonObject {
    const files = new Map<string, JsonObject>();
    const named = replaceFiles(schema, inputs, (file) => {
      if (!isSealedReference(file)) return file;
      const place = `file_${String(files.size).padStart(26, '0')}`;
      files.set(place, file);
      this.contentIds.set(file.file_id, file.content_id);
      return { file_id: place };
    });
    const check = checkOf(schema)(named);
    if (!check.ok) {
      const [first] = 'findings' in check ? check.findings : [];
      const found = first === undefined ? '' : `: ${first.path} ${first.message}`;
      throw new StepFailure('input', `The inputs do not fit the method${found}`);
    }
    return replaceFiles(schema, check.value, (file) => files.get(String(file.file_id)) ?? file) as JsonObject;
  }
}

// Of the versions in use here: each of their runs has the same schema.
const checks = new WeakMap<JsonSchema, CheckValue>();

function checkOf(schema: JsonSchema): CheckValue {
  const check = checks.get(schema) ?? compileCheck(schema);
  checks.set(schema, check);
  return check;
}

async function* partsOf(messages: AsyncIterable<{ readonly chunk: Uint8Array }>): AsyncGenerator<Uint8Array> {
  for await (const { chunk } of messages) yield chunk;
}
