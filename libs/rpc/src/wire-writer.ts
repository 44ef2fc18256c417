// Writes the wire format for the encoders of `encoder-code`: the bytes of @bufbuild/protobuf, into one buffer that is
// used again for the next message.
const START_BYTES = 16 * 1024;
/** A buffer that had to grow beyond this is released after its message. */
const KEPT_BYTES_MAX = 1024 * 1024;
/** Longer texts are written by the runtime. Below 128, so that their length is one byte. */
const SHORT_TEXT_CHARS = 32;
const VARINT_BYTES_MAX = 5;
const UINT32_MAX = 0xffff_ffff;

export class WireWriter {
  private bytes = Buffer.allocUnsafeSlow(START_BYTES);
  private pos = 0;

  /** The written bytes, as a copy; the next message begins. */
  finish(): Buffer {
    const message = Buffer.allocUnsafe(this.pos);
    this.bytes.copy(message, 0, 0, this.pos);
    this.reset();
    return message;
  }

  /** Discards the written bytes. */
  reset(): void {
    this.pos = 0;
    if (this.bytes.length > KEPT_BYTES_MAX) this.bytes = Buffer.allocUnsafeSlow(START_BYTES);
  }

  /** Field number and wire type. */
  tag(tag: number): void {
    this.room(VARINT_BYTES_MAX);
    if (tag < 128) this.bytes[this.pos++] = tag;
    else this.varint(tag);
  }

  uint(value: unknown): void {
    const number = integer(value);
    if (number < 0 || number > UINT32_MAX) throw new RangeError(`${number} is not a uint32`);
    this.room(VARINT_BYTES_MAX);
    this.varint(number);
  }

  /** An enum's value: negative numbers are written as 64 bits. */
  int(value: unknown): void {
    const number = integer(value);
    if (number !== (number | 0)) throw new RangeError(`${number} is not an int32`);
    this.room(2 * VARINT_BYTES_MAX);
    if (number >= 0) return this.varint(number);
    let rest = number;
    for (let at = 0; at < 9; at++) {
      this.bytes[this.pos++] = (rest & 127) | 128;
      rest >>= 7;
    }
    this.bytes[this.pos++] = 1;
  }

  bool(value: unknown): void {
    this.room(1);
    this.bytes[this.pos++] = value ? 1 : 0;
  }

  double(value: unknown): void {
    this.room(8);
    this.pos = this.bytes.writeDoubleLE(value as number, this.pos);
  }

  text(value: unknown): void {
    const text = typeof value === 'string' ? value : String(value);
    if (text.length > SHORT_TEXT_CHARS || !this.shortText(text)) this.longText(text);
  }

  blob(value: unknown): void {
    const blob = Array.isArray(value) ? new Uint8Array(value) : value;
    if (!(blob instanceof Uint8Array)) throw new TypeError('a field of bytes holds something else');
    this.uint(blob.length);
    this.raw(blob);
  }

  raw(chunk: Uint8Array): void {
    this.room(chunk.length);
    this.bytes.set(chunk, this.pos);
    this.pos += chunk.length;
  }

  /** Begins a message or a list within the message. */
  open(): number {
    this.room(1);
    return this.pos++;
  }

  /** Inserts the length of the bytes written since `start` before them. */
  close(begin: number): void {
    const length = this.pos - begin - 1;
    if (length < 128) {
      this.bytes[begin] = length;
      return;
    }
    const sizeMore = varintSize(length) - 1;
    this.room(sizeMore);
    this.bytes.copyWithin(begin + 1 + sizeMore, begin + 1, this.pos);
    this.pos = begin;
    this.varint(length);
    this.pos += length;
  }

  /** An entry of a map from texts to texts. */
  textEntry(tag: number, key: string, value: unknown): void {
    this.tag(tag);
    const begin = this.open();
    this.tag(10);
    this.text(key);
    this.tag(18);
    this.text(value);
    this.close(begin);
  }

  private shortText(text: string): boolean {
    const { length } = text;
    this.room(length + 1);
    const { bytes, pos } = this;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return false;
      bytes[pos + 1 + at] = code;
    }
    bytes[pos] = length;
    this.pos = pos + 1 + length;
    return true;
  }

  private longText(text: string): void {
    const count = Buffer.byteLength(text);
    this.room(VARINT_BYTES_MAX + count);
    this.varint(count);
    this.pos += this.bytes.write(text, this.pos, count, 'utf8');
  }

  private varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.bytes[this.pos++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.bytes[this.pos++] = rest;
  }

  private room(count: number): void {
    const needed = this.pos + count;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, needed));
    this.bytes.copy(larger, 0, 0, this.pos);
    this.bytes = larger;
  }
}

function integer(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number))
    throw new TypeError('a field of integers holds something else');
  return number;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) size++;
  return size;
}
