// Writes a time as people on this machine read it.

/** `2026-03-04 15:06` in local time; `-` for an unknown one. `time` is RFC 3339. */
export function timeOf(time: string | null): string {
  const at = time === null ? null : new Date(time);
  if (at === null || Number.isNaN(at.getTime())) return '-';
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
