// Cuts a part of a value's bytes at whole characters, and a log into lines.

export interface TextPart {
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
