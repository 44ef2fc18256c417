// Checks, before it is decoded, whether a long message of an unknown caller has too many fields and entries: each would
// be an object or a value in memory, and 200,000 of two bytes are 20 MiB. Decoders count as well, but the objects they
// made by then have to be collected.
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { TooManyElements, WireReader } from './wire-reader.ts';

/** Every element takes two bytes or more, so a shorter message cannot have many. */
const COUNTED_FROM_BYTES = 32 * 1024;

const nested = new WeakMap<DescMessage, Map<number, DescMessage | 'packed'>>();

/** @throws TooManyElements; malformed bytes are for the decoder to refuse */
export function refuseTooManyElements(desc: DescMessage, bytes: Uint8Array, max: number): void {
  if (bytes.length < COUNTED_FROM_BYTES) return;
  try {
    countIn(desc, new WireReader(bytes, max), bytes.length, 1);
  } catch (error) {
    if (error instanceof TooManyElements) throw error;
  }
}

function countIn(desc: DescMessage, reader: WireReader, end: number, depth: number): void {
  const inner = nestedOf(desc);
  while (reader.pos < end) {
    const tag = reader.tag();
    const kind = (tag & 7) === 2 ? inner.get(tag >>> 3) : undefined;
    if (kind === undefined) reader.skip(tag, depth);
    else if (kind === 'packed') reader.pos = reader.packedEnd();
    else {
      const length = reader.uint();
      countIn(kind, reader, reader.pos + length, depth + 1);
    }
  }
}

/** Fields whose bytes contain more elements: messages, and lists of numbers. */
function nestedOf(desc: DescMessage): Map<number, DescMessage | 'packed'> {
  const known = nested.get(desc);
  if (known) return known;
  const fields = new Map<number, DescMessage | 'packed'>();
  for (const field of desc.fields) {
    const kind = kindOf(field);
    if (kind !== null) fields.set(field.number, kind);
  }
  nested.set(desc, fields);
  return fields;
}

function kindOf(field: DescField): DescMessage | 'packed' | null {
  if (field.fieldKind === 'message') return field.message;
  if (field.fieldKind !== 'list') return null;
  if (field.listKind === 'message') return field.message;
  if (field.listKind === 'enum') return 'packed';
  return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES ? null : 'packed';
}
