// Messages of any type with any values, and encoded messages that were mutilated, for comparisons with
// @bufbuild/protobuf.
import { type DescField, type DescFile, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { RunEventSchema } from '@methods/proto/event/v1/event_pb';
import { Health } from '@methods/proto/grpc/health/v1/health_pb';
import { NotifierService } from '@methods/proto/notifier/v1/notifier_service_pb';
import { PeerService } from '@methods/proto/peer/v1/peer_service_pb';
import { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import { MethodRegistryService } from '@methods/proto/registry/v1/method_registry_service_pb';
import { RunRecordService } from '@methods/proto/registry/v1/run_record_service_pb';
import { UploadService } from '@methods/proto/registry/v1/upload_service_pb';
import { RunSchedulerService } from '@methods/proto/scheduler/v1/run_scheduler_service_pb';
import { WorkerService } from '@methods/proto/worker/v1/worker_service_pb';
import fc from 'fast-check';

type Init = Record<string, unknown>;

const SERVICES = [
  AccountService,
  Health,
  MethodRegistryService,
  NotifierService,
  PeerService,
  RunRecordService,
  RunSchedulerService,
  UploadService,
  WorkerService,
];

/** Every message of proto/: those of its services, those sent over the bus, and all of the files that these import. */
export function allMessages(): DescMessage[] {
  const files = new Set<DescFile>([...SERVICES.map(({ file }) => file), RunEventSchema.file]);
  // Files added while the set is walked are walked too.
  for (const file of files) for (const imported of file.dependencies) files.add(imported);
  return [...files].flatMap(({ messages }) => messages);
}

const TEXT = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  // Halves of surrogate pairs, a byte order mark, what replaces invalid bytes, and the lengths at which ways part.
  { weight: 1, arbitrary: fc.constantFrom('\ud800', 'a\udc00b', '\ufeffx', '\ufffd', '__proto__', 'é'.repeat(64)) },
  { weight: 1, arbitrary: fc.nat({ max: 140 }).map((length) => 'x'.repeat(length)) },
);
const NUMBER = fc.oneof(fc.constantFrom(0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 - 1), fc.nat());

const SCALARS: Partial<Record<ScalarType, fc.Arbitrary<unknown>>> = {
  [ScalarType.STRING]: TEXT,
  [ScalarType.BYTES]: fc.uint8Array({ maxLength: 200 }),
  [ScalarType.UINT32]: NUMBER,
  [ScalarType.DOUBLE]: fc.oneof(fc.double(), fc.constantFrom(0, -0, Number.NaN, 1_763_000_000_000)),
  [ScalarType.BOOL]: fc.boolean(),
};
/** Values that no field, or not that field, can hold. */
const WRONG = fc.constantFrom<unknown>(null, -1, 1.5, 2 ** 32, '7', 'x', '', 0, false, true, [], {}, 5n, [1, 2]);

/** Plain objects of the message's shape; with `wrong`, some values are of other types. */
export function initsOf(desc: DescMessage, wrong = false): fc.Arbitrary<Init> {
  const members: Record<string, fc.Arbitrary<unknown>> = {};
  for (const member of desc.members) {
    members[member.localName] =
      member.kind === 'field'
        ? valuesOf(member, wrong)
        : fc.oneof(
            fc.constant({ case: undefined }),
            ...member.fields.map((field) => valuesOf(field, wrong).map((value) => ({ case: field.localName, value }))),
          );
  }
  return fc.record(members, { requiredKeys: [], noNullPrototype: true });
}

function valuesOf(field: DescField, wrong: boolean): fc.Arbitrary<unknown> {
  const right = rightValuesOf(field, wrong);
  return wrong ? fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: WRONG }) : right;
}

function rightValuesOf(field: DescField, wrong: boolean): fc.Arbitrary<unknown> {
  if (field.fieldKind === 'map') {
    const values: fc.Arbitrary<unknown> = field.mapKind === 'message' ? initsOf(field.message, wrong) : TEXT;
    return fc.dictionary(TEXT, values, { maxKeys: 3, noNullPrototype: true });
  }
  const one =
    field.message !== undefined
      ? fc.memo(() => initsOf(field.message as DescMessage, wrong))(1)
      : field.enum !== undefined
        ? fc.oneof(fc.nat({ max: 8 }), fc.integer())
        : SCALARS[field.scalar as ScalarType];
  if (one === undefined) throw new Error(`${field} has a type for which there are no values`);
  return field.fieldKind === 'list' ? fc.array(one, { maxLength: 4 }) : one;
}

/** Variants for the same places on the wire: tags of other types, groups, long and overlong numbers, bad UTF-8. */
const PIECES = [
  [0x08, 0x00],
  [0x0b, 0x0c],
  [0x0b, 0x10, 0x05, 0x0c],
  [0x0b, 0x14],
  [0x0c],
  [0x00],
  [0x07],
  [0x0e],
  [0x8a, 0x00, 0x01, 0x41],
  [0x8a, 0x80, 0x80, 0x80, 0x10],
  [0x8a, 0x80, 0x80, 0x80, 0x80, 0x00],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
  [0x0a, 0x03, 0xed, 0xa0, 0x80],
  [0x0a, 0x02, 0xc0, 0x80],
  [0x0a, 0x01, 0xff],
  [0x0a, 0x03, 0xef, 0xbf, 0xbd],
  [0x0a, 0x03, 0xef, 0xbb, 0xbf],
  [0x0a, 0x02, 0x0a, 0x00],
  [0x12, 0x00],
  [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f],
  [0xfa, 0x7f, 0x01, 0x78],
  [0xf8, 0x7f, 0x01],
  [0x0d, 0x01, 0x02, 0x03, 0x04],
  [0x09, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08],
  new Array<number>(34).fill(0x0b),
  new Array<number>(68).fill(0x0b, 0, 34).fill(0x0c, 34),
  new Array<number>(60).fill(0x0b, 0, 30).fill(0x0c, 30),
].map((piece) => Buffer.from(piece));

export interface Mutilation {
  readonly kind: 'flip' | 'cut' | 'insert' | 'random' | 'end' | 'twice' | 'replace' | 'field';
  readonly at: number;
  readonly by: number;
  readonly bytes: Uint8Array;
}

export const MUTILATIONS: fc.Arbitrary<Mutilation[]> = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('field', 'flip') },
      { weight: 1, arbitrary: fc.constantFrom('cut', 'insert', 'random', 'end', 'twice', 'replace') },
    ),
    at: fc.nat({ max: 2 ** 20 }),
    by: fc.nat({ max: 2 ** 20 }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 3 },
);

export function mutilated(whole: Buffer, mutilations: readonly Mutilation[]): Buffer {
  return mutilations.reduce<Buffer>((bytes, mutilation) => mutilate(bytes, mutilation), whole);
}

function mutilate(bytes: Buffer, { kind, at, by, bytes: some }: Mutilation): Buffer {
  const begin = at % (bytes.length + 1);
  const before = bytes.subarray(0, begin);
  const after = bytes.subarray(begin);
  const piece = PIECES[by % PIECES.length] as Buffer;
  switch (kind) {
    case 'flip': {
      const flipped = Buffer.from(bytes);
      if (begin < flipped.length) flipped[begin] = (flipped[begin] as number) ^ (1 << (by % 8));
      return flipped;
    }
    case 'cut':
      return Buffer.concat([before, after.subarray(by % 9)]);
    case 'insert':
      return Buffer.concat([before, piece, after]);
    case 'random':
      return Buffer.concat([before, some, after]);
    case 'end':
      return Buffer.from(before);
    case 'twice':
      return Buffer.concat([bytes, after]);
    case 'replace':
      return Buffer.concat([before, piece, after.subarray(piece.length)]);
    case 'field':
      return Buffer.concat(at % 2 === 0 ? [bytes, fieldOf(by, some)] : [fieldOf(by, some), bytes]);
  }
}

/** A whole field of any number and wire type, so also one of ours in another type than its own. */
function fieldOf(by: number, some: Uint8Array): Buffer {
  const number = 1 + (by % 24);
  const wireType = [0, 1, 2, 2, 3, 5][(by >>> 5) % 6] as number;
  const tag = varint((number << 3) | wireType);
  if (wireType === 0) return Buffer.concat([tag, varint(by)]);
  if (wireType === 1) return Buffer.concat([tag, Buffer.alloc(8, some)]);
  if (wireType === 2) return Buffer.concat([tag, varint(some.length), some]);
  if (wireType === 5) return Buffer.concat([tag, Buffer.alloc(4, some)]);
  return Buffer.concat([tag, varint((1 << 3) | 2), varint(some.length), some, varint((number << 3) | 4)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.of(...bytes, rest);
}
