// GET /api/runs/:id/values and …/values/download: the inputs and the result of a run, and the output and the end of the log
// of a step. The text is that which is stored, passed on in parts: a value may be large, and is shown in pieces.
import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { OrgId, RunId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { RunValue } from '@methods/proto/scheduler/v1/run_parts_service_pb';
import type { FastifyInstance, preValidationHookHandler } from 'fastify';
import { type Static, Type } from 'typebox';
import { callerOf } from '../../plugins/caller.ts';
import { JSON_TYPE } from '../../plugins/error-reply.ts';
import { replies } from '../reply-schemas.ts';
import { asDownload } from '../runs/downloads.ts';
import { runShown } from '../runs/run-acts.ts';
import { runIdOf } from '../runs/run-reply.ts';
import { RunParams } from '../runs/run-schemas.ts';
import { Bytes } from '../uploads/upload-schemas.ts';
import { described, type RunPartRouteParts } from './run-parts.ts';

const BYTES_DEFAULT = 16 * 1024;
const BYTES_MAX = 1024 * 1024;
/** No stored value is larger. */
const OFFSET_MAX = 64 * 1024 * 1024;
const FILE = 'application/octet-stream';

const OF = {
  inputs: RunValue.INPUTS,
  result: RunValue.RESULT,
  output: RunValue.OUTPUT,
  log: RunValue.LOG,
} as const;
type Of = keyof typeof OF;

const valueFields = {
  of: Type.Unsafe<Of>({ type: 'string', enum: Object.keys(OF), description: 'output and log: of the step.' }),
  step: Type.Optional(Type.String({ maxLength: 1_000, description: "The step's path, for output and log." })),
};
const Closed = { additionalProperties: false } as const;
const ValueQuery = Type.Object(
  {
    ...valueFields,
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: OFFSET_MAX, description: 'Default: 0.' })),
    bytes: Type.Optional(
      Type.Integer({ minimum: 4, maximum: BYTES_MAX, description: `At most this many; default: ${BYTES_DEFAULT}.` }),
    ),
  },
  Closed,
);
const DownloadQuery = Type.Object(valueFields, Closed);

const Value = Type.Object({
  of: valueFields.of,
  step: Type.Optional(Type.String()),
  bytes: Type.Integer({ description: 'Of the whole value, as UTF-8; 0: there is none.' }),
  offset: Type.Integer(),
  text: Type.String({ description: 'JSON, or the plain text of a log; a part of it if the value is larger.' }),
  next_offset: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Where the next part begins; null: this is the end.',
  }),
  withheld: Type.Optional(Type.Boolean({ description: 'The output holds a secret and was not stored.' })),
  sealed: Type.Optional(
    Type.Boolean({ description: 'The run is in device mode: the text is an envelope, {"$sealed": …}.' }),
  ),
});

interface Address {
  readonly orgId: OrgId;
  readonly runId: RunId;
  readonly of: Of;
  readonly step: string;
}

export function addReadValues(scope: FastifyInstance, parts: RunPartRouteParts): void {
  const typed = scope.withTypeProvider<TypeBoxTypeProvider>();
  const read = {
    ...described('readRunValue', 'Read a value of a run'),
    description:
      'In parts that end at whole characters. What a step wrote is kept from its end, at most 4,096 characters.',
    params: RunParams,
    querystring: ValueQuery,
    response: replies({ 200: Value }),
  };
  const reading = { schema: read, config: { access: 'viewer' }, preValidation: readNumbers } as const;
  typed.get('/api/runs/:id/values', reading, async (request, reply) => {
    const address = addressOf(callerOf(request).orgId, request.params, request.query);
    const { offset = 0, bytes = BYTES_DEFAULT } = request.query;
    const found = await partOf(parts, address, offset, bytes);
    const told = runShown(request, parts, address.runId);
    if (told) await told;
    const { bytesTotal, withheld, sealed } = found;
    const end = offset + found.part.length;
    const { text, bytes: taken } = wholeCharacters(found.part, end >= bytesTotal);
    reply.header('content-type', JSON_TYPE);
    return JSON.stringify({
      of: address.of,
      ...(address.step !== '' && { step: address.step }),
      bytes: bytesTotal,
      offset,
      text,
      next_offset: end >= bytesTotal ? null : offset + taken,
      ...(withheld && { withheld }),
      ...(sealed && { sealed }),
    });
  });

  const download = {
    ...described('downloadRunValue', 'Download a value of a run'),
    description: 'As a file to be saved, never shown, regardless of its content. 404 if there is no such value.',
    params: RunParams,
    querystring: DownloadQuery,
    response: { ...replies({}), 200: { description: 'The value.', content: { [FILE]: { schema: Bytes } } } },
  };
  const downloading = { schema: download, config: { access: 'viewer' } } as const;
  scope.get('/api/runs/:id/values/download', downloading, async (request, reply) => {
    const query = request.query as Static<typeof DownloadQuery>;
    const address = addressOf(callerOf(request).orgId, request.params, query);
    parts.downloads.begin(request, reply);
    const first = await partOf(parts, address, 0, BYTES_MAX);
    if (first.bytesTotal === 0) throw new ServiceError('not_found', 'There is no such value.');
    const told = runShown(request, parts, address.runId);
    if (told) await told;
    asDownload(reply, FILE, fileName(address)).header('content-length', first.bytesTotal);
    const content = restOf(parts, address, first);
    return reply.send(Readable.from(parts.downloads.pace.paced(address.orgId, content), { objectMode: false }));
  });
}

async function* restOf(
  parts: RunPartRouteParts,
  address: Address,
  first: { readonly part: Uint8Array; readonly bytesTotal: number },
): AsyncGenerator<Uint8Array> {
  yield first.part;
  for (let offset = first.part.length; offset < first.bytesTotal; ) {
    const { part, bytesTotal } = await partOf(parts, address, offset, BYTES_MAX);
    // The value has changed meanwhile: a file of two values is none.
    if (bytesTotal !== first.bytesTotal || part.length === 0) throw new ServiceError('unavailable');
    yield part;
    offset += part.length;
  }
}

function partOf({ reads }: RunPartRouteParts, { of, ...address }: Address, offset: number, bytes: number) {
  return reads.parts.value({ ...address, of: OF[of], offset, bytes });
}

function addressOf(orgId: OrgId, params: unknown, { of, step = '' }: Static<typeof DownloadQuery>): Address {
  const runId = runIdOf(params);
  const isOfStep = of === 'output' || of === 'log';
  if (isOfStep === (step !== '')) return { orgId, runId, of, step };
  const message = isOfStep ? `"${of}" needs the path of a step.` : `"${of}" is of the run, not of a step.`;
  throw new ServiceError('invalid_request', message, { findings: [{ path: '/step', code: 'step', message }] });
}

function fileName({ runId, of, step }: Address): string {
  const name = step === '' ? of : `${step.replaceAll(/[^\w-]+/g, '-').slice(0, 100)}-${of}`;
  return `${runId}-${name}.${of === 'log' ? 'txt' : 'json'}`;
}

// A query holds only texts, and the request check converts nothing.
const readNumbers: preValidationHookHandler = (request, _reply, done) => {
  const query = request.query as Record<string, unknown>;
  for (const name of ['offset', 'bytes']) {
    const text = query[name];
    if (typeof text === 'string' && /^\d{1,9}$/.test(text)) query[name] = Number(text);
  }
  done();
};

// Cuts a part of a value's bytes at whole characters, and a log into lines.

interface TextPart {
  readonly text: string;
  /** Bytes from the beginning of the part to the next one. */
  readonly bytes: number;
}

/** `isLast`: nothing follows the part. A part that begins within a character begins with the next one. */
export function wholeCharacters(part: Uint8Array, isLast: boolean): TextPart {
  let begin = 0;
  while (begin < part.length && begin < 3 && isContinuation(part[begin])) begin++;
  let end = part.length;
  if (!isLast) {
    let lead = end - 1;
    while (lead > begin && isContinuation(part[lead])) lead--;
    if (lead >= begin && end - lead < lengthOf(part[lead])) end = lead;
  }
  return { text: Buffer.from(part.buffer, part.byteOffset, part.length).toString('utf8', begin, end), bytes: end };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Of the character that begins with this byte. */
function lengthOf(byte: number | undefined): number {
  if (byte === undefined || byte < 0xc0) return 1;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
