// Owns durations: `30s`, `1h30m`, `3d`.

const UNITS: readonly (readonly [amount: RegExp, ms: number])[] = [
  [/^(\d{1,12})d(?![a-z])/, 86_400_000],
  [/^(\d{1,12})h(?![a-z])/, 3_600_000],
  [/^(\d{1,12})m(?![a-z])/, 60_000],
  [/^(\d{1,12})s(?![a-z])/, 1_000],
  [/^(\d{1,12})ms(?![a-z])/, 1],
];

/** Milliseconds of a duration: integers with falling units, each unit once. Undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (text.length > 40) return undefined;
  let rest = text;
  let total = 0;
  for (const [amount, unitMs] of UNITS) {
    const found = amount.exec(rest);
    if (!found) continue;
    total += Number(found[1]) * unitMs;
    rest = rest.slice(found[0].length);
  }
  return rest === '' && text !== '' && Number.isSafeInteger(total) ? total : undefined;
}

const PARTS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
  [1, 'ms'],
] as const;

/** A duration as an author writes it: `3d`, `1m30s`. Fractions of a short one stay together: `1500ms`. */
export function durationText(ms: number): string {
  if (ms < 60_000 && ms % 1_000 !== 0) return `${ms}ms`;
  let rest = ms;
  let text = '';
  for (const [unitMs, unit] of PARTS) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}

/** How long a deadline was, for a sentence: as the source spells it, unless that is a bare count of milliseconds. */
export function deadlineText(timeoutMs: number, source: string): string {
  return parseDuration(source) === undefined || /^\d+ms$/.test(source) ? durationText(timeoutMs) : source;
}
