// About how many bytes an item of a frame takes: the texts and bytes in it, without encoding it.

const DEPTH_MAX = 8;
const FIELD_BYTES = 2;

/** Texts count a byte a character; callers need megabytes, not bytes. */
export function itemSize(value: unknown, depth = DEPTH_MAX): number {
  if (typeof value === 'string') return value.length + FIELD_BYTES;
  if (typeof value !== 'object' || value === null || depth === 0) return FIELD_BYTES;
  if (value instanceof Uint8Array) return value.length + FIELD_BYTES;
  let size = FIELD_BYTES;
  if (Array.isArray(value)) {
    for (const each of value) size += itemSize(each, depth - 1);
    return size;
  }
  for (const name in value) size += itemSize((value as Record<string, unknown>)[name], depth - 1);
  return size;
}
