// Phrases that several commands share: counts, time spans, and times as people on this machine read them.

/** `1 error`, `3 errors`. */
export function countOf(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** `0.21 s`, `3 min 20 s`. */
export function timeSpan(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}

/** `2026-03-04 15:06` in local time; `-` for an unknown one. `time` is RFC 3339. */
export function timeOf(time: string | null): string {
  const at = time === null ? null : new Date(time);
  if (at === null || Number.isNaN(at.getTime())) return '-';
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
