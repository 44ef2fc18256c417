// How many fields, items and list entries an encoded message has, counted before it is decoded: each becomes an object
// or a value in memory, so that 4 MiB of two-byte items would cost a second and several hundred MiB.
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** Every element takes two bytes or more, so what is shorter cannot have many. */
const COUNTED_FROM_BYTES = 32 * 1024;
/** None of our messages is nested deeper than half of this. */
export const NESTING_MAX = 32;

const nested = new WeakMap<DescMessage, Map<number, DescMessage | 'packed'>>();

/** Whether the bytes have at most `max` elements. Malformed bytes are for the decoder to refuse. */
export function hasElementsWithin(desc: DescMessage, bytes: Uint8Array, max: number): boolean {
  if (bytes.length < COUNTED_FROM_BYTES && bytes.length < 2 * max) return true;
  const count = { left: max };
  try {
    countInto(count, desc, new BinaryReader(bytes), bytes.length, 0);
  } catch {
    return true;
  }
  return count.left >= 0;
}

function countInto(count: { left: number }, desc: DescMessage, reader: BinaryReader, end: number, depth: number): void {
  const inner = nestedOf(desc);
  while (reader.pos < end && count.left >= 0) {
    count.left--;
    const [number, wireType] = reader.tag();
    const kind = wireType === WireType.LengthDelimited ? inner.get(number) : undefined;
    if (kind === undefined || depth >= NESTING_MAX) {
      reader.skip(wireType, number, NESTING_MAX);
      continue;
    }
    const innerEnd = reader.uint32() + reader.pos;
    if (kind === 'packed') {
      count.left -= innerEnd - reader.pos;
      reader.pos = innerEnd;
    } else {
      countInto(count, kind, reader, innerEnd, depth + 1);
    }
  }
}

/** Fields whose bytes hold more elements: messages, and lists of numbers. */
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
