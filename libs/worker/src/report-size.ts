// Measures reports. A report larger than a message would end its stream, and every later one since it is repeated: no
// run of the worker could report any more.
import type { WorkerItem } from './scheduler-link.ts';

/** A message carries 4 MiB. */
export const REPORT_BYTES_MAX = (4 << 20) - (64 << 10);
/** An upper bound for the tag, length or number of one field. */
const FIELD_BYTES = 16;

/** An upper bound of the encoded size. */
export function reportBytes(item: WorkerItem): number {
  // A character takes at most 3 bytes of UTF-8, so most reports need no exact count.
  const most = bytesOf(item, (text) => text.length * 3);
  return most <= REPORT_BYTES_MAX ? most : bytesOf(item, (text) => Buffer.byteLength(text));
}

function bytesOf(value: unknown, measure: (text: string) => number): number {
  if (typeof value === 'string') return measure(value);
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 0;
  for (const member of Object.values(value)) bytes += FIELD_BYTES + bytesOf(member, measure);
  return bytes;
}
