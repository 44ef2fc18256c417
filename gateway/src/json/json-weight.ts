// Estimates the cost of parsing a JSON text from its bytes, before it is parsed: lists, objects and names become
// objects, and a megabyte of them blocks the event loop for more than 50 ms.

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const OBJECT = 0x7b;

/**
 * The weight that a MiB of text may have. Inputs of 256 KiB have at most this, unless nearly every value is a list or
 * object.
 */
export const WEIGHT_PER_MIB_MAX = 50_000;

/** In twentieths, by byte outside of texts. */
const WEIGHTS = new Uint8Array(256);
WEIGHTS[COLON] = 20;
WEIGHTS[LIST] = 10;
WEIGHTS[OBJECT] = 10;
WEIGHTS[COMMA] = 1;
const PART_BYTES = 4_096;

/**
 * Approximate microseconds of parsing and checking: 1 for each name, 0.5 for each list and object. Counting ends soon
 * after `enough`: a refusal costs little more than the limit.
 */
export function jsonWeight(bytes: Uint8Array, enough = Number.POSITIVE_INFINITY): number {
  const end = bytes.length;
  let weight = 0;
  let i = 0;
  for (let part = PART_BYTES; i < end && weight <= enough * 20; part += PART_BYTES) {
    for (const partEnd = Math.min(end, part); i < partEnd; i++) {
      const byte = bytes[i] as number;
      if (byte === QUOTE) i = endOfText(bytes, i);
      else weight += WEIGHTS[byte] as number;
    }
  }
  return weight / 20;
}

export function endOfText(bytes: Uint8Array, start: number): number {
  let i = start + 1;
  for (; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) i++;
  }
  return i;
}
