// The size of a report. One that no message can carry would end the stream it is sent on, and each one after it, as it is
// repeated: no run of the worker could report any more.
import type { WorkerItem } from './scheduler-link.ts';

/** A message carries 4 MiB. */
export const REPORT_BYTES_MAX = (4 << 20) - (64 << 10);
/** Tag, length or number of a field, at most. */
const FIELD_BYTES = 16;

/** At most so many bytes. */
export function reportBytes(item: WorkerItem): number {
  // A character is at most 3 bytes of UTF-8: most reports need no count.
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
