// What a JSON text costs to parse, counted over its bytes before it is parsed: lists, objects and names make objects of
// their own, and a megabyte of them holds the event loop for more than 50 ms.

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const OBJECT = 0x7b;

/** Weight a MiB of text may have. Inputs of 256 KiB have at most this, unless nearly every value is a list or object. */
export const WEIGHT_PER_MIB_MAX = 50_000;

/** About the microseconds of parsing and looking through it: 1 for each name, 0.5 for each list and object. */
export function jsonWeight(bytes: Uint8Array): number {
  let containers = 0;
  let names = 0;
  let values = 0;
  let inText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (inText) {
      if (byte === QUOTE) inText = false;
      else if (byte === BACKSLASH) i++;
    } else if (byte === QUOTE) inText = true;
    else if (byte === COMMA) values++;
    else if (byte === COLON) names++;
    else if (byte === LIST || byte === OBJECT) containers++;
  }
  return names + containers / 2 + values / 20;
}
