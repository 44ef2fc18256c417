// Owns rounding to decimal digits as people do it on paper.

/**
 * Rounds half away from zero, on the decimal form of the number: `1.005` to 2 digits is 1.01, although the nearest
 * double is below it. Numbers too large to have that digit come back as they are.
 */
export function roundDecimal(value: number, digits: number): number {
  if (Math.abs(value) >= 1e15) return value;
  const size = Math.round(shift(Math.abs(value), digits));
  const rounded = shift(size, -digits);
  return value < 0 && rounded !== 0 ? -rounded : rounded;
}

/** Moves the decimal point in the written number, which loses nothing; a multiplication would. */
function shift(value: number, places: number): number {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  return Number(`${mantissa}e${Number(exponent) + places}`);
}
