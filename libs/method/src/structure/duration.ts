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
