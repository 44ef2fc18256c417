// Runs an http step: one request with its deadline, the response, read within bounds, and the values that `take` or
// `out` see.
import type { HttpStep } from '@methods/method/compiled-method';
import { evaluate, type Scope } from '@methods/method/evaluate';
import { type JsonObject, type JsonValue, nestsDeeperThan, objectOf } from '@methods/method/json';
import { refuseNamedFiles } from '../files/file-value.ts';
import { stepDeadline } from '../run-stop.ts';
import { type ActionEnd, type StepContext, stepKey } from '../step-context.ts';
import { StepFailure } from '../step-failure.ts';
import { exchange, networkFailure } from './http-exchange.ts';
import { refusalOf } from './http-refusal.ts';
import { buildRequest } from './http-request.ts';

const BODY_BYTES_MAX = 10 * 1024 * 1024;
const NESTING_MAX = 200;

export async function runHttpStep(step: HttpStep, context: StepContext): Promise<ActionEnd> {
  const scope: Scope = { ...context.scope, secrets: (name) => secretOf(step, context, name) };
  const request = await buildRequest(step, scope, stepKey(context.runId, context.path), context.folder);
  const deadline = stepDeadline(step.limits, context.runTimeLeftMs);
  const abort = new AbortController();
  let timedOut = false;
  const timer =
    deadline.timeoutMs === null
      ? null
      : context.clock.after(deadline.timeoutMs, () => {
          timedOut = true;
          abort.abort();
        });
  const work = exchange(request, context.fetch, abort.signal, context.mask).then((response) =>
    readResponse(step, response, context),
  );
  try {
    const read = await context.stop.during(work, () => abort.abort());
    return { ...read, failure: null, checks: [], log: null };
  } catch (error) {
    throw timedOut ? new StepFailure('timeout', `No answer within ${deadline.text}`) : error;
  } finally {
    timer?.cancel();
  }
}

function secretOf(step: HttpStep, context: StepContext, name: string): string {
  const value = step.secrets.includes(name) ? context.secrets.get(name) : undefined;
  if (value === undefined) throw new StepFailure('secret', `The step does not declare the secret ${name}`);
  return value;
}

interface HttpAnswer {
  /** The taken fields, or the JSON body; undefined without a declared out. */
  readonly returned: JsonValue | undefined;
  readonly response?: JsonObject;
}

/**
 * Returns the step's value, and the value that its checks see. Throws StepFailure of kind http, limit, network or out.
 */
async function readResponse(step: HttpStep, response: Response, context: StepContext): Promise<HttpAnswer> {
  const { status } = response;
  if (!response.ok && !step.accept.includes(status)) {
    const retryAfterMs = retryAfter(response.headers.get('retry-after'), context.clock.wallMs());
    throw new StepFailure('http', `The server answered ${status}`, {
      status,
      answer: await refusalOf(response, context.mask),
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    });
  }
  if (step.out === null && step.ensure.length === 0) {
    await response.body?.cancel();
    return { returned: undefined };
  }
  const contentType = response.headers.get('content-type') ?? '';
  const read: JsonObject = {
    status,
    headers: objectOf(response.headers),
    body: step.keepsFile ? null : bodyOf(await boundedText(response), contentType, context.folder),
    file: step.keepsFile ? await keepFile(step, response, contentType, context) : null,
  };
  return { returned: returnedOf(step, read, context.scope, status), response: read };
}

function returnedOf(step: HttpStep, read: JsonObject, scope: Scope, status: number): JsonValue | undefined {
  if (step.out === null) return undefined;
  if (step.take === null) return bodyAsOut(read.body ?? null, status);
  const withResponse: Scope = { ...scope, response: read };
  return objectOf([...step.take].map(([field, value]) => [field, evaluate(value, withResponse)] as const));
}

/** RFC 9110 section 10.2.3: seconds, or a date. Null if it is neither. */
function retryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

function bodyAsOut(body: JsonValue, status: number): JsonValue {
  if (typeof body === 'string') throw new StepFailure('out', 'The answer is not JSON; use take', { status });
  return body;
}

function bodyOf(text: string, contentType: string, folder: StepContext['folder']): JsonValue {
  const body = bodyValue(text, contentType);
  refuseNamedFiles(body, folder);
  return body;
}

/** Returns JSON if it is declared or recognizable, else the text; null without a body. */
function bodyValue(text: string, contentType: string): JsonValue {
  if (text === '') return null;
  try {
    const value = JSON.parse(text) as JsonValue;
    if (nestsDeeperThan(value, NESTING_MAX))
      throw new StepFailure('limit', `The answer nests deeper than ${NESTING_MAX}`);
    return value;
  } catch (error) {
    if (error instanceof StepFailure) throw error;
    if (/[/+]json\b/i.test(contentType)) throw new StepFailure('out', 'The answer is called JSON but is not');
    return text;
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bounded(response, BODY_BYTES_MAX, 'The answer is larger than 10 MiB; keep response.file')) {
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

async function keepFile(
  step: HttpStep,
  response: Response,
  contentType: string,
  { folder, path }: StepContext,
): Promise<JsonValue> {
  const { filesBytesMax } = step.limits;
  const tooLarge = `The file is larger than ${filesBytesMax / 1048576} MiB (limits: files_mb)`;
  const mediaType = contentType.split(';')[0]?.trim().toLowerCase() || 'application/octet-stream';
  await folder.clearStep(path);
  return folder.write(path, 'body', bounded(response, filesBytesMax, tooLarge), mediaType);
}

/** Counts the bytes that arrive, not those that a header announces: a compressed answer grows while it is read. */
async function* bounded(response: Response, bytesMax: number, tooLarge: string): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  let bytes = 0;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw networkFailure(error);
      });
      if (done) return;
      bytes += value.length;
      if (bytes > bytesMax) throw new StepFailure('limit', tooLarge);
      yield value;
    }
  } finally {
    // Without a reader the connection would wait for one forever.
    await reader.cancel().catch(() => {});
  }
}
