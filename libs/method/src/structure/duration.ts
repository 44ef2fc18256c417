// Owns durations: `30s`, `1h30m`, `3d`.

const UNITS_MS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/** Milliseconds of a duration: integers with falling units, each unit once. Undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (text.length > 40) return undefined;
  let rest = text;
  let total = 0;
  for (const [unit, unitMs] of UNITS_MS) {
    const found = new RegExp(`^(\\d{1,12})${unit}(?![a-z])`).exec(rest);
    if (!found) continue;
    total += Number(found[1]) * unitMs;
    rest = rest.slice(found[0].length);
  }
  return rest === '' && text !== '' && Number.isSafeInteger(total) ? total : undefined;
}
