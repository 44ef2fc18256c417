// Reads the wire format for the decoders of `decoder-code`. It accepts and refuses exactly what the reader of
// @bufbuild/protobuf accepts and refuses, but counts the elements: each field and entry becomes an object or a value in
// memory, so 4 MiB of two-byte items would cost a second and several hundred MiB.

/** None of our messages is nested deeper than half of this. */
export const NESTING_MAX = 32;

/** Longer texts are read by the runtime, which takes the time of a dozen characters for a call. */
const SHORT_TEXT_BYTES = 32;
const WIRE_TYPE_MAX = 5;
const VARINT_BYTES_MAX = 10;
const REPLACEMENT = '\ufffd';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class WireReader {
  pos = 0;
  readonly length: number;
  private readonly bytes: Buffer;

  constructor(
    private readonly source: Uint8Array,
    /** Fields and entries that may still be read. */
    private left: number,
  ) {
    this.length = source.length;
    this.bytes = Buffer.isBuffer(source) ? source : Buffer.from(source.buffer, source.byteOffset, source.length);
  }

  /** Number and wire type of the next field, as on the wire. */
  tag(): number {
    this.count(1);
    return this.anyTag();
  }

  /** Number of the next field, which is still to be read. */
  nextNumber(): number {
    const { pos } = this;
    const tag = this.anyTag();
    this.pos = pos;
    return tag >>> 3;
  }

  /** Of a number longer than 32 bits, the lowest 32. */
  uint(): number {
    const { bytes, length } = this;
    let { pos } = this;
    let value = 0;
    for (let shift = 0; shift < 7 * VARINT_BYTES_MAX; shift += 7) {
      if (pos >= length) throw endsEarly();
      const byte = bytes[pos++] as number;
      // A shift by more than 31 would begin at the lowest bit again.
      if (shift < 32) value |= (byte & 127) << shift;
      if (byte < 128) {
        this.pos = pos;
        return value >>> 0;
      }
    }
    throw new RangeError('a number has more than ten bytes');
  }

  bool(): boolean {
    const { bytes, length } = this;
    let bits = 0;
    for (let at = 1; at <= VARINT_BYTES_MAX; at++) {
      if (this.pos >= length) throw endsEarly();
      const byte = bytes[this.pos++] as number;
      // Of the tenth byte, only one bit belongs to a 64-bit number.
      bits |= byte & (at === VARINT_BYTES_MAX ? 1 : 127);
      if (byte < 128) return bits !== 0;
    }
    throw new RangeError('a number has more than ten bytes');
  }

  double(): number {
    const { pos } = this;
    this.skipBytes(8);
    return this.bytes.readDoubleLE(pos);
  }

  /** A view of the bytes, not a copy. */
  blob(): Uint8Array {
    const length = this.uint();
    const { pos } = this;
    this.skipBytes(length);
    return this.source.subarray(pos, pos + length);
  }

  text(): string {
    const length = this.uint();
    const { bytes, pos } = this;
    this.skipBytes(length);
    if (length === 0) return '';
    if (length <= SHORT_TEXT_BYTES) {
      const codes = new Array<number>(length);
      let at = 0;
      while (at < length) {
        const byte = bytes[pos + at] as number;
        if (byte > 127) break;
        codes[at++] = byte;
      }
      if (at === length) return String.fromCharCode.apply(null, codes);
    }
    const text = bytes.toString('utf8', pos, pos + length);
    // It replaces bytes that are not UTF-8, or it was sent.
    return text.includes(REPLACEMENT) ? strictUtf8.decode(bytes.subarray(pos, pos + length)) : text;
  }

  /** The end of a list of numbers, each of which is an entry. */
  packedEnd(): number {
    const length = this.uint();
    this.count(length);
    return this.pos + length;
  }

  /** An entry of a map from texts to texts. */
  textEntry(record: Record<string, string>, depth: number): void {
    const length = this.uint();
    const end = this.pos + length;
    let key = '';
    let value = '';
    while (this.pos < end) {
      const tag = this.tag();
      if (tag >>> 3 === 1) key = this.text();
      else if (tag >>> 3 === 2) value = this.text();
      else this.skip(tag, depth);
    }
    setOwn(record, key, value);
  }

  /** Passes over a field that this process does not know. */
  skip(tag: number, depth: number): void {
    const wireType = tag & 7;
    if (wireType === 0) this.skipVarint();
    else if (wireType === 1) this.skipBytes(8);
    else if (wireType === 2) this.skipBytes(this.uint());
    else if (wireType === 5) this.skipBytes(4);
    else if (wireType === 3) this.skipGroup(tag >>> 3, depth);
    else throw new RangeError('a group ends that has not begun');
  }

  private skipVarint(): void {
    for (;;) {
      if (this.pos >= this.length) throw endsEarly();
      if ((this.bytes[this.pos++] as number) < 128) return;
    }
  }

  private skipBytes(count: number): void {
    if (count > this.length - this.pos) throw endsEarly();
    this.pos += count;
  }

  private skipGroup(number: number, depth: number): void {
    if (depth >= NESTING_MAX) throw tooDeep();
    for (;;) {
      const tag = this.tag();
      if ((tag & 7) !== 4) this.skip(tag, depth + 1);
      else if (tag >>> 3 === number) return;
      else throw new RangeError('another group ends than the one that has begun');
    }
  }

  private count(elements: number): void {
    this.left -= elements;
    if (this.left < 0) throw new TooManyElements();
  }

  private anyTag(): number {
    const { bytes, pos } = this;
    if (pos < this.length) {
      const tag = bytes[pos] as number;
      if (tag < 128 && tag > 7 && (tag & 7) <= WIRE_TYPE_MAX) {
        this.pos = pos + 1;
        return tag;
      }
    }
    return this.longTag();
  }

  private longTag(): number {
    const begin = this.pos;
    const tag = this.uint();
    const size = this.pos - begin;
    const overflows = size > 5 || (size === 5 && (this.bytes[this.pos - 1] as number) > 15);
    if (overflows || tag <= 7 || (tag & 7) > WIRE_TYPE_MAX)
      throw new RangeError('a field has no possible number or type');
    return tag;
  }
}

export function setOwn<T>(record: Record<string, T>, key: string, value: T): void {
  // Assigned like the others, it would be the prototype.
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  } else record[key] = value;
}

export class TooManyElements extends RangeError {
  constructor() {
    super('a message has too many fields or entries');
  }
}

export function tooDeep(): RangeError {
  return new RangeError('messages are nested too deeply');
}

function endsEarly(): RangeError {
  return new RangeError('a message ends within a field');
}
